"""What both apps may use and that knows neither."""
