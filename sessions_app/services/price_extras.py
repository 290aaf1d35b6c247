"""What the price package does not tell: windows, and write prices of long cache lifetimes.

Taken from providers' published model tables in November 2026; checked by hand, changed by hand.
"""

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

#: Long (12 h) writes as a multiple of the input price; shorter ones are in the package.
LONG_WRITES = {
    model: Decimal("2.5")
    for model in ("gpt-5.6-sol", "gpt-6-astra", "gpt-6-sol", "gpt-6-luna", "gpt-6.1-sol", "gpt-6.1-terra")
}
