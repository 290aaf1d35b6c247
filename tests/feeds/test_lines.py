"""Lines are cut at LF only; each costs itself alone."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.feeds.base import Context, Husk, Parsed, Refused
from sessions_app.feeds.husk import husk
from sessions_app.feeds.lines import LONGEST_LINE, decode, parse_lines, pieces
from sessions_app.kernel.readings import Reading
from tests.support.inputs import NOW_MS


def reduced(record: Any, context: Context) -> tuple[Husk, tuple[Reading, ...]]:
    return husk(record), ()


def lines(body: bytes, *, final: bool = False) -> Parsed:
    return parse_lines(body, Context(received_ms=NOW_MS, final=final), reduced)


def seen(parsed: Parsed) -> list[tuple[int, Any]]:
    return [(item.position, item.husk.get("n")) for item in parsed.items]


def refused(parsed: Parsed) -> list[tuple[int, str]]:
    return [(refusal.position, refusal.code) for refusal in parsed.refusals]


def test_lines__crlf_blank_lines_and_trailing_spaces__are_no_faults() -> None:
    parsed = lines(b'{"n":1}\r\n\r\n  \n{"n":2}  \r\n{"n":3}\t\n')
    assert seen(parsed) == [(1, 1), (4, 2), (5, 3)]
    assert not parsed.refusals
    assert parsed.pending_bytes == 0


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\u0085", "\x7f"])
def test_lines__line_separators_of_unicode_in_a_string__do_not_cut(sign: str) -> None:
    assert seen(lines(json.dumps({"t": sign, "n": 1}, ensure_ascii=False).encode() + b"\n")) == [(1, 1)]


def test_lines__byte_order_mark_first__ignored() -> None:
    assert seen(lines(b'\xef\xbb\xbf{"n":1}\n')) == [(1, 1)]


def test_lines__byte_order_mark_between_lines_of_joined_files__ignored() -> None:
    assert seen(lines(b'{"n":1}\n\xef\xbb\xbf{"n":2}\r\n\xef\xbb\xbf\n')) == [(1, 1), (2, 2)]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
def test_lines__another_encoding__each_line_refused_and_nothing_read(encoding: str) -> None:
    parsed = lines('{"n":1}\n{"n":2}\n'.encode(encoding), final=True)
    assert not parsed.items
    assert {code for _, code in refused(parsed)} == {"not_json"}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b'{"n":', "not_json"),
        (b"{'n': 1}", "not_json"),
        (b'{"n": NaN}', "not_json"),
        (b'{"t": "\\ud800", "n": Infinity}', "not_json"),
        (b'{"n": ' + b"9" * 5000 + b"}", "not_json"),
        (b'{"t":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "too_deep"),
        (b'{"t":"\xff","u":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "too_deep"),
        (b'{"t":"' + b"x" * LONGEST_LINE + b'"}', "line_too_large"),
        (b"[1]", "not_an_object"),
        (b"7", "not_an_object"),
        (b"\x00\x00\x00", "not_json"),
    ],
)
def test_lines__a_bad_line__refused_with_its_number_and_neighbours_count(line: bytes, code: str) -> None:
    parsed = lines(b'{"n":1}\n' + line + b'\n{"n":3}\n')
    assert seen(parsed) == [(1, 1), (3, 3)]
    assert refused(parsed) == [(2, code)]


def test_lines__a_refusal__never_quotes_the_text() -> None:
    (refusal,) = lines(b'{"prompt": "secret words" oops}\n').refusals
    assert "secret" not in refusal.message
    assert "oops" not in refusal.message


def test_lines__bytes_that_are_no_utf8__replaced_with_a_warning_and_a_flag() -> None:
    parsed = lines(b'{"t":"\xb2","n":1}\n{"n":2}\n')
    assert seen(parsed) == [(1, 1), (2, 2)]
    assert [(w.position, w.code) for w in parsed.warnings] == [(1, "utf8_replaced")]
    assert parsed.items[0].husk["~flags"] == ["utf8_replaced"]


def test_lines__bad_bytes_beside_a_genuine_replacement_sign__still_told() -> None:
    assert decode(b'{"t":"\xef\xbf\xbd\xff"}') == ({"t": "\ufffd\ufffd"}, True)
    assert decode(b'{"t":"\xef\xbf\xbd"}') == ({"t": "\ufffd"}, False)


def test_lines__lone_surrogate__taken() -> None:
    assert seen(lines(b'{"t":"\\ud83d","n":1}\n{"t":"\\uDC00","n":2}\n')) == [(1, 1), (2, 2)]


def test_lines__unterminated_but_complete_last_line__counts() -> None:
    for final in (False, True):
        parsed = lines(b'{"n":1}\n{"n":2}', final=final)
        assert seen(parsed) == [(1, 1), (2, 2)]
        assert parsed.pending_bytes == 0


def test_lines__torn_last_line__pending_until_the_upload_is_final() -> None:
    body = b'{"n":1}\n{"n":2,"t":"abc'
    assert lines(body).pending_bytes == len(b'{"n":2,"t":"abc')
    assert not lines(body).refusals
    assert refused(lines(body, final=True)) == [(2, "not_json")]


def test_lines__torn_inside_a_character__pending_as_well() -> None:
    body = b'{"n":1}\n{"t":"\xe2\x82'
    assert lines(body).pending_bytes == 8
    assert not lines(body).refusals


@given(st.lists(st.binary(max_size=30), max_size=8), st.booleans())
def test_lines__any_bytes__each_line_is_read_refused_or_pending(parts: list[bytes], final: bool) -> None:
    body = b"\n".join(parts)
    parsed = lines(body, final=final)
    told = {item.position for item in parsed.items} | {refusal.position for refusal in parsed.refusals}
    # A mark of byte order may stand at the head of any line: files are joined.
    rows = [row.removeprefix(b"\xef\xbb\xbf") for row in body.split(b"\n")]
    filled = {n for n, row in enumerate(rows, 1) if row.strip(b" \t\r")}
    assert told == filled - ({len(rows)} if parsed.pending_bytes else set())


def test_decode__integer_beyond_64_bits__kept_for_the_rule_of_counts() -> None:
    assert husk(decode(b'{"n": 99999999999999999999999}')[0])["n"] is not None


def test_decode__longest_line__is_the_limit() -> None:
    with pytest.raises(Refused):
        decode(b" " * (LONGEST_LINE + 1))


@given(st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"")), max_size=12), st.integers(1, 20))
def test_pieces__of_any_size__whole_lines_and_nothing_lost(found: list[bytes], size: int) -> None:
    body = b"\n".join(found)
    cut = list(pieces(body, size))
    assert b"".join(piece for piece, _, _ in cut) == body
    assert all(piece.endswith(b"\n") and len(piece) >= size for piece, _, is_last in cut if not is_last)
    assert [is_last for _, _, is_last in cut] == [False] * (len(cut) - 1) + [True] * bool(cut)
    assert [before for _, before, _ in cut] == [
        b"".join(piece for piece, _, _ in cut[:number]).count(b"\n") for number in range(len(cut))
    ]
