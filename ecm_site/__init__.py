"""Wiring of ECM server: settings, addresses, processes. No rule of the product lives here."""
