"""Causes named by arithmetic against the provider's word on real sessions, with the word withheld."""

from pathlib import Path

from sessions_app.kernel.agreement import report
from sessions_app.services import agreeing
from tests.support.deliveries import INPUTS, NOW
from tests.support.pins import BOOK


def test_agreement__corpus__precision_of_what_is_named() -> None:
    found = agreeing.of_files([Path(INPUTS / "corpus-claude-code.tar.xz")], BOOK, NOW)
    text = report(found)
    assert (len(found.pairs), found.silent) == (22, 15), text
    assert found.right * 10 >= found.named * 9 > 0, text
    assert found.always_pause == 0
    # Found as misses at all: more of the labelled ones than the usual guess finds, and hardly any other call.
    assert found.ours.labelled > found.baseline.labelled
    assert found.ours.others * 200 < found.others
