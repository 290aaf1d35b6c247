"""What the price package does not tell: windows, and write prices of long cache lifetimes.

Taken from providers' published model tables in November 2026; checked by hand, changed by hand.
"""

from datetime import UTC, datetime
from decimal import Decimal

#: Windows in tokens of models for which the package has none.
WINDOWS = {
    "gemini-2.5-pro": 1_048_576,
    "gemini-2.5-flash-preview": 1_048_576,
    "gemini-3-pro-preview": 1_048_576,
    "gemini-3.1-pro-preview": 1_048_576,
    "glm-4.5": 131_072,
    "glm-4.6": 200_000,
    "glm-4.7": 200_000,
}

#: OpenAI counts the largest output into its window; what a prompt can fill is smaller.
PROMPT_WINDOWS = {("openai", 1_050_000): 922_000, ("openai", 400_000): 272_000}

#: DeepSeek's dear hours (https://api-docs.deepseek.com/quick_start/pricing): twice the price from Monday to Friday, but
#: for public holidays in China (State Council, https://www.gov.cn/zhengce/content/202511/content_7047090.htm).
PEAK_SPANS, PEAK_FACTOR = {(1, 4), (6, 10)}, Decimal(2)
PEAK_SINCE = datetime(2026, 8, 16, 16, tzinfo=UTC)
_HOLIDAYS = {9: (25, 26, 27), 10: (1, 2, 3, 4, 5, 6, 7)}
PEAK_HOURS = "mon-fri 01:00-04:00 06:00-10:00 not " + " ".join(
    f"2026-{month:02}-{day:02}" for month, days in _HOLIDAYS.items() for day in days
)

#: Long (12 h) writes as a multiple of the input price; shorter ones are in the package.
LONG_WRITES = {
    model: Decimal("2.5")
    for model in ("gpt-5.6-sol", "gpt-6-astra", "gpt-6-sol", "gpt-6-luna", "gpt-6.1-sol", "gpt-6.1-terra")
}

#: The smallest prompt that is cached at all, in tokens, by the longest start of the name.
_MIN_PREFIXES = {
    "claude-fable-5": 512,
    "claude-mythos-5": 512,
    "claude-opus-5": 512,
    "claude-opus-4-8": 1_024,
    "claude-opus-4-7": 2_048,
    "claude-opus-4-6": 4_096,
    "claude-opus-4-5": 4_096,
    "claude-sonnet-5-5": 512,
    "claude-sonnet-5": 1_024,
    "claude-sonnet-4-6": 1_024,
    "claude-sonnet-4-5": 1_024,
    "claude-haiku-5-5": 512,
    "claude-haiku-4-5": 4_096,
    "gpt-": 1_024,
    "gemini-2.5": 2_048,
    "gemini-3": 4_096,
    "gemini-4": 4_096,
}


def min_prefix(model: str) -> int | None:
    """The least cacheable prompt of a model by its normalised name; None where nobody says."""
    starts = [start for start in _MIN_PREFIXES if model.startswith(start)]
    return _MIN_PREFIXES[max(starts, key=len)] if starts else None
