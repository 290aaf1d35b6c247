"""Where machines deliver to."""

from django.urls import path

from sessions_app.api import bundle, hooks, host_hooks, ingest, ingest_otlp, ingest_proxy, verdicts

api_urls = [
    path("ingest", ingest.CanonicalView.as_view(), name="ingest"),
    path("transcripts/claude-code", ingest.ClaudeTranscriptView.as_view(), name="transcripts-claude-code"),
    path("transcripts/opencode", ingest.OpenCodeTranscriptView.as_view(), name="transcripts-opencode"),
    path("transcripts/gemini", ingest.GeminiTranscriptView.as_view(), name="transcripts-gemini"),
    path("transcripts/claude-sdk", ingest.ClaudeSdkView.as_view(), name="transcripts-claude-sdk"),
    path("hooks/gemini", host_hooks.GeminiHookView.as_view(), name="hooks-gemini"),
    path("hooks/cursor", ingest.CursorHookView.as_view(), name="hooks-cursor"),
    path("hooks/opencode", host_hooks.OpenCodeHookView.as_view(), name="hooks-opencode"),
    path("transcripts/codex", ingest.CodexTranscriptView.as_view(), name="transcripts-codex"),
    path("transcripts/copilot", ingest.CopilotTranscriptView.as_view(), name="transcripts-copilot"),
    path("statusline/claude-code", ingest.ClaudeStatuslineView.as_view(), name="statusline-claude-code"),
    path("bundles/claude-code", bundle.ClaudeBundleView.as_view(), name="bundles-claude-code"),
    path("usage", ingest_proxy.UsageView.as_view(), name="usage"),
    path("proxy/litellm", ingest_proxy.LiteLlmView.as_view(), name="proxy-litellm"),
    path("bundles/codex", bundle.CodexBundleView.as_view(), name="bundles-codex"),
    path("bundles/gemini", bundle.GeminiBundleView.as_view(), name="bundles-gemini"),
    path("bundles/copilot", bundle.CopilotBundleView.as_view(), name="bundles-copilot"),
    path("arrivals", bundle.ArrivalsView.as_view(), name="arrivals"),
    path("externalize", verdicts.ExternalizeView.as_view(), name="externalize"),
    path("hooks/claude-code", hooks.ClaudeHookView.as_view(), name="hooks-claude-code"),
    path("hooks/copilot", hooks.CopilotHookView.as_view(), name="hooks-copilot"),
    path("hooks/codex", hooks.CodexHookView.as_view(), name="hooks-codex"),
]

otlp_urls = [
    path("v1/logs", ingest_otlp.OtlpLogsView.as_view(), name="otlp-logs"),
    path("v1/metrics", ingest_otlp.OtlpMetricsView.as_view(), name="otlp-metrics"),
    path("v1/traces", ingest_otlp.OtlpTracesView.as_view(), name="otlp-traces"),
]
