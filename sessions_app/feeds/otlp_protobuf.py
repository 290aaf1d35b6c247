"""OTLP exports in protobuf, as the JSON encoding would have them: the same names, so the same pointers and readers.

Only what a reader can use is taken over; bodies of logs only where they are text.
"""

from collections.abc import Iterable, Sized
from typing import Any

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ResourceLogs
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric, NumberDataPoint, ResourceMetrics
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span

from sessions_app.feeds.base import Husk, Refused
from sessions_app.feeds.bodies import too_many
from sessions_app.feeds.otlp_flat import Kind

#: Records of one export; what a collector sends at once are some thousand.
MOST_RECORDS = 100_000
_PLAIN = {
    "string_value": "stringValue",
    "int_value": "intValue",
    "double_value": "doubleValue",
    "bool_value": "boolValue",
}


def decode(body: bytes, kind: Kind) -> Husk:
    """The export as an object. Refused: `not_protobuf`, where the bytes are no message of this kind."""
    try:
        if kind is Kind.LOGS:
            logs = ExportLogsServiceRequest.FromString(body)
            _count((s.log_records for r in logs.resource_logs for s in r.scope_logs), len(logs.resource_logs))
            return {"resourceLogs": [_logs(resource) for resource in logs.resource_logs]}
        if kind is Kind.SPANS:
            spans = ExportTraceServiceRequest.FromString(body)
            _count((s.spans for r in spans.resource_spans for s in r.scope_spans), len(spans.resource_spans))
            return {"resourceSpans": [_spans(resource) for resource in spans.resource_spans]}
        metrics = ExportMetricsServiceRequest.FromString(body)
        scopes = [s for r in metrics.resource_metrics for s in r.scope_metrics]
        _count((s.metrics for s in scopes), len(metrics.resource_metrics))
        _count((m.sum.data_points for s in scopes for m in s.metrics), 0)
        return {"resourceMetrics": [_metrics(resource) for resource in metrics.resource_metrics]}
    except DecodeError:
        raise Refused("not_protobuf", "", "the body is no OTLP export of this signal in protobuf") from None


def _count(lists: Iterable[Sized], before: int) -> None:
    """Refuse more than a sender can mean before any is taken over; empty ones cost it two bytes each."""
    for each in lists:
        before += 1 + len(each)
        if before > MOST_RECORDS:
            raise too_many(MOST_RECORDS)


def _logs(given: ResourceLogs) -> Husk:
    scopes = [
        {"scope": {"name": s.scope.name}, "logRecords": [_log(r) for r in s.log_records]} for s in given.scope_logs
    ]
    return {"resource": {"attributes": _pairs(given.resource.attributes)}, "scopeLogs": scopes}


def _spans(given: ResourceSpans) -> Husk:
    scopes = [{"scope": {"name": s.scope.name}, "spans": [_span(r) for r in s.spans]} for s in given.scope_spans]
    return {"resource": {"attributes": _pairs(given.resource.attributes)}, "scopeSpans": scopes}


def _metrics(given: ResourceMetrics) -> Husk:
    scopes = [
        {"scope": {"name": s.scope.name}, "metrics": [_metric(m) for m in s.metrics]} for s in given.scope_metrics
    ]
    return {"resource": {"attributes": _pairs(given.resource.attributes)}, "scopeMetrics": scopes}


def _log(record: LogRecord) -> Husk:
    return {
        "timeUnixNano": record.time_unix_nano,
        "observedTimeUnixNano": record.observed_time_unix_nano,
        "eventName": record.event_name,
        "body": _value(record.body),
        "attributes": _pairs(record.attributes),
    }


def _span(span: Span) -> Husk:
    return {
        "traceId": span.trace_id.hex(),
        "spanId": span.span_id.hex(),
        "parentSpanId": span.parent_span_id.hex(),
        "name": span.name,
        "startTimeUnixNano": span.start_time_unix_nano,
        "endTimeUnixNano": span.end_time_unix_nano,
        "attributes": _pairs(span.attributes),
        "events": [
            {"name": e.name, "timeUnixNano": e.time_unix_nano, "attributes": _pairs(e.attributes)} for e in span.events
        ],
        "status": {"code": int(span.status.code)},
    }


def _metric(metric: Metric) -> Husk:
    if not metric.HasField("sum"):
        return {"name": metric.name}
    points = [_point(point) for point in metric.sum.data_points]
    return {
        "name": metric.name,
        "sum": {"aggregationTemporality": int(metric.sum.aggregation_temporality), "dataPoints": points},
    }


def _point(point: NumberDataPoint) -> Husk:
    told: Husk = {
        "attributes": _pairs(point.attributes),
        "startTimeUnixNano": point.start_time_unix_nano,
        "timeUnixNano": point.time_unix_nano,
    }
    kind = point.WhichOneof("value")
    if kind is not None:
        told["asInt" if kind == "as_int" else "asDouble"] = getattr(point, kind)
    return told


def _pairs(attributes: Iterable[KeyValue]) -> list[Husk]:
    return [{"key": pair.key, "value": _value(pair.value)} for pair in attributes]


def _value(value: AnyValue) -> Any:
    """A plain value; lists, maps and bytes say nothing here."""
    kind = value.WhichOneof("value")
    return {_PLAIN[kind]: getattr(value, kind)} if kind in _PLAIN else {}
