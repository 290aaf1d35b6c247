"""A table as CSV and JSON: exactly the lines of its page, with exact figures."""

import csv
import io
import json
from decimal import Decimal
from typing import Any

from sessions_app.dashboard.tables import TablePage
from sessions_app.services.projecting import exact

#: A cell that begins like this would be a formula in a spreadsheet.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def as_csv(page: TablePage) -> str:
    """Lines with a head; unknown is an empty cell; money in plain exact decimals of USD."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([page.group.name, *(column.key for column in page.columns)])
    for line in page.lines:
        writer.writerow([_inert(line.name), *(_cell(value) for value in line.cells)])
    return out.getvalue()


def as_json(page: TablePage) -> str:
    """`{"by", "period", "team", "left_out", "lines": [{…}]}`; unknown is null; money as strings."""
    lines = [
        {page.group.name: line.name, **{c.key: _value(v) for c, v in zip(page.columns, line.cells, strict=True)}}
        for line in page.lines
    ]
    head = {"by": page.group.name, "period": page.scope.period.key, "team": page.scope.team.key or "all"}
    return json.dumps({**head, "left_out": page.left_out, "lines": lines}, ensure_ascii=False)


def _cell(value: Any) -> Any:
    value = _value(value)
    return "" if value is None else _inert(value) if isinstance(value, str) and not _is_number(value) else value


def _value(value: Any) -> Any:
    return exact(value) if isinstance(value, Decimal) else value


def _is_number(text: str) -> bool:
    return text.lstrip("-").replace(".", "", 1).isdecimal()


def _inert(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text
