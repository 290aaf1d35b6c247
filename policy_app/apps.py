"""What should happen: signals, decision tables, verdicts, pins."""

from django.apps import AppConfig


class PolicyConfig(AppConfig):
    """Registers the app under its package name."""

    name = "policy_app"
    verbose_name = "Policy"
