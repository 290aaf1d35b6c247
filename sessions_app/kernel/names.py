"""Model names: one price row for many spellings.

Hosts, clouds and gateways write one model in many ways (region and vendor prefixes, date stamps,
dots or dashes, a window mark). The raw name is what people see; the names made here find price rows.
"""

import re
from functools import lru_cache

#: The window that the mark `[1m]` selects.
MARKED_WINDOW = 1_000_000

#: Leading path segments that name a cloud, a gateway or a maker.
_ROUTES = re.compile(
    r"(?:amazon-bedrock|anthropic|azure|azure_ai|bedrock|bedrock_converse|converse|gemini|global|google|googleai|invoke|litellm_proxy"
    r"|models|moonshotai|openai|openrouter|publishers|vertex|vertex_ai|x-ai|xai"
    r"|projects/[^/]+/locations/[^/]+|(?:us|us-gov|eu|ap|ca|sa|me|af|il|mx)-[a-z]+-\d)/(?=.)"
)
_REGION = re.compile(r"^(?:us-gov|us|eu|apac|ap|jp|au|ca|sa|me|af|global)\.(?=[a-z])")
_VENDOR = re.compile(r"^(?:anthropic|openai|google)\.")
_MARK = re.compile(r"\[1m\]$")
_REVISION = re.compile(r"(?<=\d)-v\d+(?::\d+)?$|:\d+$|@default$|@latest$|-latest$")
_STAMP = re.compile(r"[-@](?:20\d{6}|20\d\d-\d\d-\d\d)$")
_CLAUDE_DOT = re.compile(r"(?<=\d)\.(?=\d)")
_CLAUDE_TURNED = re.compile(r"^claude-([4-9]\d*(?:-\d{1,2})?)-(opus|sonnet|haiku|fable|mythos)(?=-|$)")
_CLAUDE_THREE = re.compile(r"^claude-(opus|sonnet|haiku)-(3(?:-\d{1,2})?)(?=-|$)")
_CLAUDE_ZERO = re.compile(r"^(claude-[a-z]+-\d+)-0$")
_DASHED_VERSION = re.compile(r"^(gpt|gemini|grok|glm)-(\d)-(\d{1,2})(?=-|$)")


def has_window_mark(raw: str) -> bool:
    """True when the name itself selects the window of a million tokens."""
    return bool(_MARK.search(raw.strip().lower()))


@lru_cache(maxsize=4096)
def normalise(raw: str) -> str:
    """The name without route, region, vendor, date stamp, revision and window mark; lower case."""
    return spellings(raw)[-1]


@lru_cache(maxsize=4096)
def spellings(raw: str) -> tuple[str, ...]:
    """Names to look for, the most exact first: a dated name may have a price of its own."""
    dated = _canonical(_without_revision(_without_route(_MARK.sub("", raw.strip().lower()))))
    plain = _canonical(_without_revision(_STAMP.sub("", dated)))
    return (dated,) if dated == plain else (dated, plain)


def _without_route(name: str) -> str:
    """Drop leading path segments that name a cloud, a gateway or an inference profile, then region and vendor."""
    if name.startswith("arn:"):
        name = name.rpartition("/")[2]
    while route := _ROUTES.match(name):
        name = name[route.end() :]
    return _VENDOR.sub("", _REGION.sub("", name))


def _without_revision(name: str) -> str:
    shorter = _REVISION.sub("", name)
    return shorter or name


def _canonical(name: str) -> str:
    if not name.startswith("claude-"):
        return _DASHED_VERSION.sub(r"\1-\2.\3", name)
    name = _CLAUDE_DOT.sub("-", name)
    name = _CLAUDE_TURNED.sub(r"claude-\2-\1", name)
    name = _CLAUDE_THREE.sub(r"claude-\2-\1", name)
    return _CLAUDE_ZERO.sub(r"\1", name)
