"""Fold every session once more: the ledger's evidence comes from the fold, and older folds wrote none."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("sessions_app", "0009_ecm_calls")]

    operations = [
        migrations.RunSQL(
            "UPDATE sessions_app_session SET revision = revision + 1, dirty_at = now()",
            migrations.RunSQL.noop,
        ),
    ]
