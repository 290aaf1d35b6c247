"""Exports for tests: JSON of the protocol turned into protobuf."""

import json

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


def spans_as_protobuf(body: bytes) -> bytes:
    """An export of spans; OTLP/JSON writes ids in hex where protobuf's own JSON has base64."""
    export = json.loads(body)
    ids: list[tuple[bytes, bytes, bytes]] = []
    for resource in export["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                names = ("traceId", "spanId", "parentSpanId")
                trace, own, parent = (bytes.fromhex(span.pop(name, "")) for name in names)
                ids.append((trace, own, parent))
    message = ParseDict(export, ExportTraceServiceRequest(), ignore_unknown_fields=True)
    spans = [s for resource in message.resource_spans for scope in resource.scope_spans for s in scope.spans]
    for span, (trace, own, parent) in zip(spans, ids, strict=True):
        span.trace_id, span.span_id, span.parent_span_id = trace, own, parent
    return message.SerializeToString()
