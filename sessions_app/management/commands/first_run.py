"""What `make up` asks for after migrating: the installation, prices, and a way in."""

import json
import os
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from policy_app.services import installing
from sessions_app.services import actors, entry, folding, installation, price_seed, prices


class Command(BaseCommand):
    """`manage.py first_run`: idempotent; prints one JSON object."""

    help = (
        "Make organisation, team, administrator, keys and prices where missing, and print a JSON object with an"
        " entry path (valid once, ten minutes) and the secrets that were made. Reads ECM_ADMIN_PASSWORD,"
        " ECM_INGEST_KEY and ECM_ADMIN_KEY."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Install, seed, issue a link."""
        now = timezone.now()
        installed = installation.ensure_installation(
            admin_password=os.environ.get("ECM_ADMIN_PASSWORD") or None,
            ingest_key=os.environ.get("ECM_INGEST_KEY") or None,
            admin_key=os.environ.get("ECM_ADMIN_KEY") or None,
            now=now,
        )
        folding.unpark()
        seeded = [prices.seed(prices=rows, source=source) for rows, source in price_seed.offer().by_source]
        organisation_id = installed.organisation.pk
        # Where one person decides alone, nobody could approve; that is recorded with the policy.
        several = actors.approvers(organisation_id) > 1
        installing.ensure_default(organisation_id=organisation_id, four_eyes=several, now=now)
        installing.ensure_pins(organisation_id=organisation_id, four_eyes=several, now=now)
        token = entry.issue_link(user=installed.admin, now=now)
        told = {
            "entry_path": f"/enter/{token}",
            "admin_user": installed.admin.get_username(),
            "admin_password": installed.admin_password,
            "ingest_key": installed.ingest_key,
            "admin_key": installed.admin_key,
            "team": installed.team.slug,
            "prices_added": sum(each.added for each in seeded),
            "prices_differing": sum(len(each.differing) for each in seeded),
        }
        self.stdout.write(json.dumps(told))
