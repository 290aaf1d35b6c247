"""The doors of OTLP over HTTP: JSON and protobuf, answered in the encoding of the request."""

from typing import ClassVar

from django.http import HttpResponse
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsPartialSuccess, ExportLogsServiceResponse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsPartialSuccess,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceResponse,
)
from rest_framework.request import Request
from rest_framework.response import Response

from sessions_app.api.ingest import IngestView
from sessions_app.feeds import otlp_hosts
from sessions_app.feeds.husk_strings import clean
from sessions_app.services.ingest import Receipt

PROTOBUF = "application/x-protobuf"


class OtlpView(IngestView):
    """Any host's telemetry; refused records are told as the protocol's partial success."""

    #: Name of the count of refused records in the protocol's answer.
    rejected: ClassVar[str]

    def is_protobuf(self, request: Request) -> bool:
        """By the content type; everything else is JSON."""
        return request.content_type.partition(";")[0].strip().lower() in (PROTOBUF, "application/protobuf")

    def answer(self, receipt: Receipt, *, as_text: bool) -> HttpResponse:
        """Nothing, or `partialSuccess`; int64 travels as a decimal string in OTLP/JSON."""
        # A remark goes with a count of zero, as the protocol has it.
        first = next(iter([*receipt.refused, *receipt.warnings]), None)
        told = clean(f"{first.pointer}: {first.message}") if first else ""
        count = receipt.refused_total
        if self.is_protobuf(self.request):
            return HttpResponse(self.encoded(count, told) if first else b"", content_type=PROTOBUF)
        return Response({"partialSuccess": {self.rejected: str(count), "errorMessage": told}} if first else {})

    def encoded(self, count: int, told: str) -> bytes:
        """The protocol's answer in protobuf."""
        raise NotImplementedError


class OtlpLogsView(OtlpView):
    """`POST /otlp/v1/logs`."""

    feed = otlp_hosts.LOGS
    rejected = "rejectedLogRecords"

    def encoded(self, count: int, told: str) -> bytes:
        success = ExportLogsPartialSuccess(rejected_log_records=count, error_message=told)
        return ExportLogsServiceResponse(partial_success=success).SerializeToString()


class OtlpMetricsView(OtlpView):
    """`POST /otlp/v1/metrics`."""

    feed = otlp_hosts.METRICS
    rejected = "rejectedDataPoints"

    def encoded(self, count: int, told: str) -> bytes:
        success = ExportMetricsPartialSuccess(rejected_data_points=count, error_message=told)
        return ExportMetricsServiceResponse(partial_success=success).SerializeToString()


class OtlpTracesView(OtlpView):
    """`POST /otlp/v1/traces`."""

    feed = otlp_hosts.TRACES
    rejected = "rejectedSpans"

    def encoded(self, count: int, told: str) -> bytes:
        success = ExportTracePartialSuccess(rejected_spans=count, error_message=told)
        return ExportTraceServiceResponse(partial_success=success).SerializeToString()
