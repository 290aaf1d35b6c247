"""Real senders at the border: OpenTelemetry's own SDK and exporter, and the reference sender."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from pytest_django.live_server_helper import LiveServer

from sessions_app.models import Session
from tests.support import deliveries as story
from tests.support.world import World

SENDER = Path(__file__).parents[2] / "tools" / "send_usage.py"


@pytest.mark.parametrize("compression", [Compression.NoCompression, Compression.Gzip])
def test_spans__of_the_real_sdk_over_protobuf__the_models_call_counts_once(
    compression: Compression, live_server: LiveServer, world: World
) -> None:
    exporter = OTLPSpanExporter(
        endpoint=f"{live_server.url}/otlp/v1/traces",
        headers={"Authorization": f"Bearer {world.secrets['ingest_key']}"},
        compression=compression,
    )
    provider = TracerProvider(resource=Resource.create({"service.name": "billing-agent", "service.version": "4.2.0"}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("opentelemetry.instrumentation.anthropic")
    usage = {"gen_ai.usage.input_tokens": 141_200, "gen_ai.usage.output_tokens": 900}
    cache = {"gen_ai.usage.cache_read.input_tokens": 138_000, "gen_ai.usage.cache_creation.input_tokens": 3_188}
    with tracer.start_as_current_span("invoke_agent billing") as agent:
        agent.set_attributes({"gen_ai.operation.name": "invoke_agent", **usage})
        with tracer.start_as_current_span("chat claude-sonnet-4-5") as span:
            span.set_attributes({"gen_ai.operation.name": "chat", "gen_ai.request.model": "claude-sonnet-4-5"})
            span.set_attributes({"gen_ai.conversation.id": "s-1", "gen_ai.response.id": "msg_SYN1", **usage, **cache})
    provider.shutdown()
    story.fold_everything()
    session = Session.objects.get()
    assert (session.host, session.host_session_id, session.version) == ("otlp", "s-1", "4.2.0")
    assert (session.calls, session.uncached_input, session.cache_read) == (1, 12, 138_000)
    assert (session.cache_write_5m, session.cache_write_unknown_ttl, session.output) == (3_188, 3_188, 900)


def test_sender__twice_the_same_records__counted_once(live_server: LiveServer, world: World) -> None:
    usage = {"input_tokens": 12, "cache_read_input_tokens": 91_000, "output_tokens": 640}
    record = {"session": "s", "provider": "anthropic", "model": "claude-opus-4-6", "id": "msg_1", "usage": usage}
    environment = {**os.environ, "ECM_URL": live_server.url, "ECM_INGEST_KEY": world.secrets["ingest_key"]}
    receipts = []
    for _ in range(2):
        told = subprocess.run(
            [sys.executable, str(SENDER)], input=json.dumps(record), text=True, capture_output=True, env=environment
        )
        assert told.returncode == 0, told.stderr
        receipts += json.loads(told.stdout)
    assert [(r["accepted"], r["duplicate"]) for r in receipts] == [(1, 0), (0, 1)]
    story.fold_everything()
    session = Session.objects.get()
    assert (session.calls, session.uncached_input, session.cache_read, session.output) == (1, 12, 91_000, 640)


def test_sender__server_away__keeps_what_it_holds() -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); from send_usage import Sender;"
        "ecm = Sender('http://127.0.0.1:9', 'k', every=999); ecm.tell('s', 'openai', 'm', {'prompt_tokens': 1});"
        "print(ecm.flush(), len(ecm.held))"
    )
    told = subprocess.run([sys.executable, "-c", program, str(SENDER.parent)], text=True, capture_output=True)
    assert told.stdout.split() == ["[]", "1"]
