"""Keyset pages: what comes in is checked, what goes out comes back."""

import pytest
from django.test import RequestFactory
from hypothesis import given
from hypothesis import strategies as st

from ecm_site.common.paging import decode_cursor, encode_cursor, next_address, page_request
from ecm_site.common.problems import DomainError


@given(st.lists(st.one_of(st.text(), st.integers()), max_size=4))
def test_cursor__any_sort_values__come_back(values: list[str | int]) -> None:
    assert decode_cursor(encode_cursor(values)) == tuple(values)


@pytest.mark.parametrize("word", ["!", "W10x", encode_cursor([1])[:-1], "bnVsbA", "W3RydWVd", "é", "W1tdXQ"])
def test_cursor__not_ours__refused_by_name(word: str) -> None:
    with pytest.raises(DomainError) as caught:
        decode_cursor(word)
    assert caught.value.code == "bad_cursor"


@pytest.mark.parametrize("limit", ["0", "501", "-1", "x", "1e3", "99999999999", "٣"])
def test_limit__out_of_range__refused_by_name(rf: RequestFactory, limit: str) -> None:
    with pytest.raises(DomainError) as caught:
        page_request(rf.get("/", {"limit": limit}))
    assert caught.value.code == "bad_limit"


def test_next_address__other_parameters__kept(rf: RequestFactory) -> None:
    request = rf.get("/api/v1/sessions", {"team": "a b", "limit": "2", "cursor": encode_cursor([1])})
    address = next_address(request, ("2026", 7))
    assert address is not None
    again = page_request(rf.get(address))
    assert (again.limit, again.after) == (2, ("2026", 7))
    assert "team=a+b" in address
    assert next_address(request, None) is None
