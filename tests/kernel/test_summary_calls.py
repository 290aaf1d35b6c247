"""Which call wrote which summary, also where some of those calls are in no record."""

from tests.support import deliveries as story
from tests.support import told
from tests.support.pins import BOOK


def test_summary_calls__first_one_unseen__second_compaction_keeps_its_own() -> None:
    """As a real session told it while its server was away for the first of two compactions."""
    lines = (
        told.call("s", "m1", 0, told.usage(4, 128_000, 2_100, 190)),
        told.compacted("s", 20, {"trigger": "manual", "preTokens": 130_294}),
        told.call("s", "m2", 34, told.usage(5, 15_100, 11_300, 150)),
        told.call("s", "m3", 36, told.usage(5, 26_400, 71_000, 95)),
        told.compacted("s", 47.7, {"trigger": "manual", "preTokens": 97_500}),
        told.call("s", "m4", 60, told.usage(5, 15_100, 8_700, 150)),
    )
    own = told.request("s", 47, told.usage(9, 97_400, 800, 2_600), query_source="compact", request_id="req_8")
    (outcome,) = story.folded([told.transcript(*lines), told.logs(own)], BOOK).values()
    assert [c.summary_call for c in outcome.compactions] == ["", "r:req_8"]
