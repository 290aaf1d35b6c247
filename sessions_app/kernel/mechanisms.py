"""How the caches of the providers work, as far as it decides what a miss can be caused by.

From the providers' documentation of November 2026. A lifetime is named only where the provider promises an
end: one that evicts as it likes has none, and no pause is ever blamed there.
"""

from dataclasses import dataclass

from sessions_app.kernel import names


@dataclass(frozen=True, slots=True)
class Mechanism:
    """One way of caching. Lifetimes in seconds; None: not promised.

    `is_marked`: the client marks what is cached, so that caching can be off; otherwise it is automatic.
    """

    name: str
    is_marked: bool = False
    short_seconds: int | None = None
    long_seconds: int | None = None
    #: After so long an entry of whatever class is gone.
    longest_seconds: int | None = None


#: Anthropic looks back so many content blocks from a breakpoint for what is cached; more new ones at once find nothing.
LOOKBACK_BLOCKS = 20
#: Rounds that come near to it.
WIDE_BLOCKS = 15

#: Anthropic's two classes of writes.
TTL_5M_SECONDS, TTL_1H_SECONDS = 300, 3_600
ANTHROPIC = Mechanism("anthropic", True, TTL_5M_SECONDS, TTL_1H_SECONDS, longest_seconds=TTL_1H_SECONDS)
#: From GPT-5.6 on writes are told and priced by class.
OPENAI_CLASSES = Mechanism("openai", short_seconds=1_800, long_seconds=43_200, longest_seconds=43_200)
#: Before, a prefix lived some minutes in memory, or up to a day where the account kept it longer.
OPENAI = Mechanism("openai", longest_seconds=86_400)
MOONSHOT = Mechanism("moonshotai")
BEST_EFFORT = Mechanism("best effort")

_WITH_CLASSES = ("gpt-5.6", "gpt-6")
_FAMILIES = (
    ("claude-", ANTHROPIC),
    ("gpt-", OPENAI),
    ("codex-", OPENAI),
    ("o1", OPENAI),
    ("o3", OPENAI),
    ("o4", OPENAI),
    ("kimi-", MOONSHOT),
    ("gemini-", BEST_EFFORT),
    ("deepseek-", BEST_EFFORT),
    ("grok-", BEST_EFFORT),
)


def mechanism_of(model: str) -> Mechanism | None:
    """The mechanism by the model's name; None where nothing is known of it."""
    name = names.normalise(model)
    if name.startswith(_WITH_CLASSES):
        return OPENAI_CLASSES
    return next((mechanism for start, mechanism in _FAMILIES if name.startswith(start)), None)
