"""Log lines: one per record, as text or JSON. Bodies and query strings never reach a log."""

import json
import logging
from datetime import UTC, datetime


class JsonFormatter(logging.Formatter):
    """One JSON object per line: time (UTC), level, logger, message, and the trace when there is one."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def config(*, level: str, as_json: bool) -> dict[str, object]:
    """Django's LOGGING: everything to stderr, one formatter."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "json": {"()": "ecm_site.logging.JsonFormatter"},
            "text": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"},
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json" if as_json else "text"}},
        "root": {"handlers": ["stderr"], "level": level.upper()},
        "loggers": {
            # Its own handlers would print each record a second time.
            "django": {"handlers": [], "level": level.upper(), "propagate": True},
            "celery.app.trace": {"level": "WARNING"},
            "celery.beat": {"level": "WARNING"},
            # One line per received task says nothing that the database does not.
            "celery.worker.strategy": {"level": "WARNING"},
        },
    }
