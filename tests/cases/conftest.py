"""Two teams of one organisation, as most tests need them."""

import pytest

from sessions_app.models import Organisation, Team
from tests.support.deliveries import NOW


@pytest.fixture
def teams(db: None) -> dict[str, Team]:
    """Teams "A" and "B"."""
    organisation = Organisation.objects.create(name="Acme", slug="acme", created_at=NOW)
    return {
        name: Team.objects.create(organisation=organisation, slug=name.lower(), name=name, created_at=NOW)
        for name in ("A", "B")
    }
