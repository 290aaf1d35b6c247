"""A session that cannot be folded is given up after some attempts, and stops nobody else."""

import pytest

from sessions_app.models import ReadingRow, Session, Team
from sessions_app.services import folding
from tests.support import deliveries as given
from tests.support import told


@pytest.fixture
def poison(teams: dict[str, Team]) -> Session:
    """A session one of whose readings cannot be read, beside a sound one."""
    for name in ("bad", "good"):
        given.deliver(teams["A"], [told.transcript(told.call(name, f"m-{name}", 0, told.usage(5)))])
    session = Session.objects.get(host_session_id="bad")
    ReadingRow.objects.filter(session=session, kind="call").update(body="{")
    return session


def test_attempt__fold_fails__tried_some_times_then_parked_with_its_reason(poison: Session) -> None:
    for _ in range(folding.MOST_FAILURES):
        assert poison.pk in folding.dirty_ids(limit=10)
        folding.fold_all(folding.dirty_ids(limit=10), given.NOW)
    assert folding.dirty_ids(limit=10) == []
    poison.refresh_from_db()
    assert (poison.fold_failures, poison.fold_error.split(" ")[0]) == (folding.MOST_FAILURES, "DecodeError")
    assert Session.objects.get(host_session_id="good").uncached_input == 5


def test_attempt__worker_was_lost_each_time__not_started_again_and_said_so(poison: Session) -> None:
    """A killed worker leaves its count behind and nothing else; its message comes back."""
    Session.objects.filter(pk=poison.pk).update(fold_failures=folding.MOST_FAILURES)
    assert not folding.attempt(session_id=poison.pk, now=given.NOW)
    poison.refresh_from_db()
    assert poison.fold_error.startswith("worker lost")


def test_attempt__news_or_a_new_version__tried_again(poison: Session, teams: dict[str, Team]) -> None:
    for step in ("news", "version"):
        Session.objects.filter(pk=poison.pk).update(fold_failures=folding.MOST_FAILURES)
        assert poison.pk not in folding.dirty_ids(limit=10)
        if step == "news":
            given.deliver(teams["A"], [told.transcript(told.call("bad", "m-2", 60, told.usage(5)))])
        else:
            folding.unpark()
        assert poison.pk in folding.dirty_ids(limit=10)


def test_attempt__that_succeeds__leaves_no_count(poison: Session) -> None:
    good = Session.objects.get(host_session_id="good")
    assert folding.attempt(session_id=good.pk, now=given.NOW)
    good.refresh_from_db()
    assert (good.fold_failures, good.revision - good.folded_revision) == (0, 0)
