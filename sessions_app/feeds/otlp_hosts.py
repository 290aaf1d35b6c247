"""One address for the telemetry of every host: each record is read by the reader of the host that wrote it.

Told apart by the prefix of the event's or metric's name, else by the name of the service. A record that nobody
claims is read by nobody: it says nothing and opens no session.
"""

from collections.abc import Mapping

from sessions_app.feeds import claude_otlp, otlp
from sessions_app.feeds.base import Context, Feed, Husk, Parsed
from sessions_app.feeds.claude_counters import read_point as claude_point
from sessions_app.kernel.readings import Reading

CLAUDE, OTHER = "claude-code", "otlp"
#: How names of a host's events begin, and how its service is called.
PREFIXES = {"claude_code.": CLAUDE}
SERVICES = {"claude": CLAUDE}

LOG_READERS: Mapping[str, otlp.Read] = {CLAUDE: claude_otlp.read_log}
POINT_READERS: Mapping[str, otlp.Read] = {CLAUDE: claude_point}


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
    return next((host for start, host in SERVICES.items() if service.startswith(start)), OTHER if service else CLAUDE)


def parse_logs(body: bytes, context: Context) -> Parsed:
    """An export to `/v1/logs`."""
    return otlp.parse(body, context, otlp.Kind.LOGS, read_log, host_of)


def parse_metrics(body: bytes, context: Context) -> Parsed:
    """An export to `/v1/metrics`."""
    return otlp.parse(body, context, otlp.Kind.METRICS, read_point, host_of)


def read_log(flat: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one log record, by its host's reader."""
    reader = LOG_READERS.get(host_of(flat))
    return reader(flat, context) if reader else ()


def read_point(flat: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one data point, by its host's reader."""
    reader = POINT_READERS.get(host_of(flat))
    return reader(flat, context) if reader else ()


LOGS = Feed("any-otlp-logs", "", parse_logs, read_log)
METRICS = Feed("any-otlp-metrics", "", parse_metrics, read_point)
