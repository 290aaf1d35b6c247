"""Spellings of one model meet in one name."""

import pytest

from sessions_app.kernel import names


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("eu.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("anthropic.claude-opus-4-6-v1", "claude-opus-4-6"),
        ("bedrock/us.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5"),
        (
            "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-5-20251101-v1:0",
            "claude-opus-4-5",
        ),
        ("claude-haiku-4-5@20251001", "claude-haiku-4-5"),
        ("publishers/anthropic/models/claude-haiku-4-5@20251001", "claude-haiku-4-5"),
        ("vertex_ai/claude-sonnet-4@20250514", "claude-sonnet-4"),
        ("projects/p/locations/us-east5/publishers/anthropic/models/claude-haiku-4-5@20251001", "claude-haiku-4-5"),
        ("bedrock/us-east-1/anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("amazon-bedrock/us.anthropic.claude-opus-4-6-v1:0", "claude-opus-4-6"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0[1M]", "claude-sonnet-4-5"),
        ("claude-opus-4-6[1m]", "claude-opus-4-6"),
        ("claude-sonnet-4-5-20250929[1m]", "claude-sonnet-4-5"),
        ("anthropic/claude-sonnet-4-5", "claude-sonnet-4-5"),
        ("openrouter/anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("claude-4.5-sonnet", "claude-sonnet-4-5"),
        ("claude-4-sonnet", "claude-sonnet-4"),
        ("claude-opus-4-0", "claude-opus-4"),
        ("claude-opus-4-20250514", "claude-opus-4"),
        ("claude-3-5-haiku-latest", "claude-3-5-haiku"),
        ("claude-haiku-3.5", "claude-3-5-haiku"),
        ("claude-3-sonnet-20240229", "claude-3-sonnet"),
        ("  Claude-Sonnet-4-5 ", "claude-sonnet-4-5"),
        ("gpt-5.4", "gpt-5.4"),
        ("gpt-5-4-mini", "gpt-5.4-mini"),
        ("openai/gpt-5-2025-08-07", "gpt-5"),
        ("gpt-4-32k", "gpt-4-32k"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("<synthetic>", "<synthetic>"),
        ("qwen/qwen3-coder-30b-a3b-instruct", "qwen/qwen3-coder-30b-a3b-instruct"),
        ("", ""),
    ],
)
def test_normalise__known_spelling__is_the_priced_name(raw: str, expected: str) -> None:
    assert names.normalise(raw) == expected


@pytest.mark.parametrize("raw", ["claude-sonnet-4-5-turbo", "acme/claude-sonnet-4-5", "my-claude-sonnet-4-5"])
def test_normalise__other_model_with_a_known_name_inside__stays_another(raw: str) -> None:
    assert names.normalise(raw) != "claude-sonnet-4-5"


def test_spellings__dated_name__comes_before_the_plain_one() -> None:
    assert names.spellings("gpt-4o-2024-05-13") == ("gpt-4o-2024-05-13", "gpt-4o")


@pytest.mark.parametrize(
    "raw", ["claude-sonnet-4-5[1m]", "us.anthropic.claude-opus-4-6[1M]", "gpt-5.4", "[1m]", "/", "@20250101"]
)
def test_normalise__own_outcome__changes_no_more(raw: str) -> None:
    assert names.normalise(names.normalise(raw)) == names.normalise(raw)


def test_has_window_mark__mark_at_the_end__is_seen_whatever_its_case() -> None:
    assert names.has_window_mark("claude-opus-4-6[1M]")
    assert not names.has_window_mark("claude-opus-4-6")
