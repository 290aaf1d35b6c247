"""One address for the telemetry of every host: each record is read by the reader of the host that wrote it.

Told apart by the prefix of the event's, metric's or span's name, else by the name of the service. What no host
claims is read by the GenAI conventions; what those do not know says nothing and opens no session.
"""

from collections.abc import Mapping

from sessions_app.feeds import claude_otlp, claude_spans, codex_otlp, copilot_otlp, gemini_otlp, genai, otlp
from sessions_app.feeds.base import SESSIONLESS, Context, Feed, Husk, Parsed, Refusal
from sessions_app.feeds.claude_counters import is_sessionless
from sessions_app.feeds.claude_counters import read_point as claude_point
from sessions_app.feeds.otlp import Kind
from sessions_app.kernel.readings import Reading

CLAUDE, OTHER = "claude-code", genai.HOST
#: How names of a host's events begin, and how its service is called.
PREFIXES = {"claude_code.": CLAUDE, codex_otlp.PREFIX: "codex", gemini_otlp.PREFIX: gemini_otlp.HOST}
SERVICES = {
    "claude": CLAUDE,
    "codex": "codex",
    "github-copilot": "copilot",
    "copilot-chat": "copilot",
    "gemini-cli": gemini_otlp.HOST,
}

LOG_READERS: Mapping[str, otlp.Read] = {
    CLAUDE: claude_otlp.read_log,
    "codex": codex_otlp.read_log,
    gemini_otlp.HOST: gemini_otlp.read_log,
    OTHER: genai.read_log,
}
POINT_READERS: Mapping[str, otlp.Read] = {CLAUDE: claude_point}
SPAN_READERS: Mapping[str, otlp.Read] = {
    CLAUDE: claude_spans.read_span,
    "copilot": copilot_otlp.read_span,
    OTHER: genai.read_span,
}


def host_of(flat: Husk) -> str:
    """The slug of the host that wrote a record; `otlp` where that is none of ours."""
    event, attrs = flat.get("event"), flat.get("attrs")
    name = event if isinstance(event, str) else ""
    for prefix, host in PREFIXES.items():
        if name.startswith(prefix):
            return host
    told = attrs.get("service.name") if isinstance(attrs, dict) else None
    service = told if isinstance(told, str) else ""
    # Some pipelines drop the resource; a bare name without a service is Claude Code's.
    host = next((host for start, host in SERVICES.items() if service.startswith(start)), OTHER if service else CLAUDE)
    # Its spans have its prefix always; others may call their service after the model that they use.
    is_foreign = flat.get("signal") == Kind.SPANS or name.startswith("gen_ai.")
    return OTHER if host == CLAUDE and is_foreign else host


def parse_logs(body: bytes, context: Context) -> Parsed:
    """An export to `/v1/logs`."""
    return otlp.parse(body, context, Kind.LOGS, read_log, host_of)


def parse_metrics(body: bytes, context: Context) -> Parsed:
    """An export to `/v1/metrics`; counters of no session are remarked, as they can be counted nowhere."""
    parsed = otlp.parse(body, context, Kind.METRICS, read_point, host_of)
    for item in parsed.items:
        if not item.readings and is_sessionless(item.husk, context):
            fix = "set OTEL_METRICS_INCLUDE_SESSION_ID=true"
            text = f"a counter without session.id belongs to no session and is not counted; {fix}"
            parsed.warnings.append(Refusal(item.position, "/attributes", SESSIONLESS, text))
    return parsed


def parse_traces(body: bytes, context: Context) -> Parsed:
    """An export to `/v1/traces`."""
    return otlp.parse(body, context, Kind.SPANS, read_span, host_of)


def read_log(flat: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one log record, by its host's reader."""
    reader = LOG_READERS.get(host_of(flat))
    return reader(flat, context) if reader else ()


def read_point(flat: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one data point, by its host's reader."""
    reader = POINT_READERS.get(host_of(flat))
    return reader(flat, context) if reader else ()


def read_span(flat: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one span, by its host's reader."""
    reader = SPAN_READERS.get(host_of(flat))
    return reader(flat, context) if reader else ()


LOGS = Feed("any-otlp-logs", "", parse_logs, read_log)
METRICS = Feed("any-otlp-metrics", "", parse_metrics, read_point)
TRACES = Feed("any-otlp-traces", "", parse_traces, read_span)
