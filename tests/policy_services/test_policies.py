"""Policies by name: what a slug may not be."""

import pytest

from ecm_site.common.problems import DomainError
from policy_app.services import policies
from tests.support.policies import MARA, NOW

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("slug", ["audit", "drafts", "evidence", "assignments", "pins"])
def test_create__a_slug_that_is_a_page__is_refused(slug: str) -> None:
    with pytest.raises(DomainError) as refused:
        policies.create(slug=slug, name="Mine", four_eyes=True, reason="why", by=MARA, now=NOW)
    assert refused.value.code == "bad_slug"
