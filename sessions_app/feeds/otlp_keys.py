"""Attributes of telemetry that are kept, by name and by who writes them. All others may hold what was said."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ANY = _words(
    "service.name service.version session.id event.name event.timestamp event.sequence error.type"
    " vcs.repository.url.full vcs.ref.head.name"
)
_CLAUDE_CODE = _words(
    "prompt.id model query_source agent.name speed effort input_tokens output_tokens cache_read_tokens"
    " cache_creation_tokens cost_usd cost_usd_micros duration_ms ttft_ms request_id client_request_id trigger success"
    " pre_tokens post_tokens precompute_reuse tool_name tool_use_id tool_result_size_bytes tool_input_size_bytes"
    " prompt_length command_name command_source status_code attempt type error_type span.type agent_id"
)
_CODEX = _words(
    "conversation.id app.version event.kind input_token_count output_token_count cached_token_count"
    " cache_write_token_count reasoning_token_count"
)
_COPILOT = frozenset(
    f"github.copilot.{name}" for name in ("initiator", "token_limit", "trigger", "success", "pre_tokens", "post_tokens")
)
_GEMINI = _words(
    "prompt_id role input_token_count output_token_count cached_content_token_count thoughts_token_count"
    " tool_token_count total_token_count tokens_before tokens_after"
)
#: Names of the GenAI conventions, new and old, and of those who write their own: OpenInference, OpenLLMetry,
#: OpenLIT, Vercel's AI SDK, Pydantic AI, Langfuse.
GENAI_SESSIONS = (
    *("gen_ai.conversation.id", "session.id", "conversation.id", "langfuse.session.id"),
    *("traceloop.association.properties.session_id", "traceloop.association.properties.thread_id"),
)
GENAI_RESPONSES = ("gen_ai.response.id", "ai.response.id")
GENAI_MODELS = (
    *("gen_ai.response.model", "ai.response.model", "llm.response.model", "gen_ai.request.model", "ai.model.id"),
    *("llm.model_name", "llm.request.model"),
)
GENAI_INPUT = (
    *("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt", "llm.usage.prompt_tokens"),
    *("ai.usage.inputTokens", "ai.usage.promptTokens"),
)
GENAI_OUTPUT = (
    *("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion"),
    *("llm.usage.completion_tokens", "ai.usage.outputTokens", "ai.usage.completionTokens"),
)
GENAI_READ = (
    *("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens", "gen_ai.usage.cache_read_tokens"),
    *("gen_ai.usage.input_cached_tokens", "gen_ai.usage.cached_input_tokens", "gen_ai.usage.input_tokens.cached"),
    *("gen_ai.usage.details.cache_read_tokens", "gen_ai.usage.details.cache_read_input_tokens"),
    *("llm.token_count.prompt_details.cache_read", "llm.usage.cache_read_input_tokens", "ai.usage.cachedInputTokens"),
)
GENAI_WRITE = (
    *("gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_write.input_tokens"),
    *("gen_ai.usage.cache_creation_input_tokens", "gen_ai.usage.cache_write_tokens"),
    *("gen_ai.usage.details.cache_write_tokens", "gen_ai.usage.details.cache_creation_input_tokens"),
    *("llm.token_count.prompt_details.cache_write", "llm.usage.cache_creation_input_tokens"),
)
GENAI_REASONING = (
    *("gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens"),
    *("gen_ai.usage.details.reasoning_tokens", "llm.token_count.completion_details.reasoning"),
    "ai.usage.reasoningTokens",
)
GENAI_TOTAL = ("gen_ai.usage.total_tokens", "llm.token_count.total", "llm.usage.total_tokens", "ai.usage.totalTokens")
GENAI_COST = ("gen_ai.usage.cost", "llm.cost.total")
#: Names whose values are numbers and nothing else.
FIGURES = frozenset(
    (*GENAI_INPUT, *GENAI_OUTPUT, *GENAI_READ, *GENAI_WRITE, *GENAI_REASONING, *GENAI_TOTAL, *GENAI_COST)
)
GENAI_WORDS = _words(
    "gen_ai.operation.name gen_ai.provider.name gen_ai.system gen_ai.agent.name openinference.span.kind"
    " llm.request.type traceloop.span.kind ai.operationId llm.provider llm.system"
)
_GENAI = frozenset((*GENAI_SESSIONS, *GENAI_RESPONSES, *GENAI_MODELS)) | FIGURES | GENAI_WORDS

KEPT = _ANY | _CLAUDE_CODE | _CODEX | _COPILOT | _GEMINI | _GENAI
