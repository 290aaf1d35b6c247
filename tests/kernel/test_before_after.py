"""Two weeks are told apart only where sessions differ more than by chance."""

from sessions_app.kernel.before_after import Verdict, compare


def weeks(share: int, spread: int, n: int = 20) -> list[tuple[int, int]]:
    return [((share + (spread if i % 2 else -spread)) * 100, 100_000) for i in range(n)]


def test_compare__91_and_90_percent_with_usual_spread__not_distinguishable() -> None:
    found = compare(weeks(910, 60), weeks(900, 60))
    assert (found.before.permille, found.after.permille, found.verdict) == (910, 900, Verdict.SAME)


def test_compare__91_and_70_percent__down() -> None:
    assert compare(weeks(910, 60), weeks(700, 60)).verdict is Verdict.DOWN
    assert compare(weeks(700, 60), weeks(910, 60)).verdict is Verdict.UP


def test_compare__few_sessions_or_no_tokens__nothing_said() -> None:
    assert compare(weeks(910, 60, 7), weeks(100, 1)).verdict is Verdict.FEW
    assert compare([(0, 0)] * 9, weeks(100, 1)).verdict is Verdict.FEW
    assert compare(weeks(500, 0), weeks(500, 0)).verdict is Verdict.SAME
