"""All feeds by name; the vault finds a record's feed here."""

from collections.abc import Mapping

from sessions_app.feeds import (
    canonical,
    claude_hooks,
    claude_otlp,
    claude_sdk,
    claude_statusline,
    claude_transcript,
    codex_hooks,
    codex_transcript,
    copilot_hooks,
    copilot_store,
    copilot_transcript,
    cursor_csv,
    cursor_hooks,
    gemini_chat,
    gemini_hooks,
    litellm,
    opencode_hooks,
    opencode_transcript,
    otlp_hosts,
    unknown,
    usage_record,
)
from sessions_app.feeds.base import Feed

FEEDS: Mapping[str, Feed] = {
    feed.name: feed
    for feed in (
        canonical.FEED,
        claude_hooks.FEED,
        claude_otlp.LOGS,
        claude_otlp.METRICS,
        claude_statusline.FEED,
        claude_transcript.FEED,
        claude_sdk.FEED,
        cursor_hooks.FEED,
        gemini_chat.FEED,
        gemini_hooks.FEED,
        opencode_hooks.FEED,
        opencode_transcript.FEED,
        unknown.FEED,
        otlp_hosts.LOGS,
        otlp_hosts.METRICS,
        codex_hooks.FEED,
        codex_transcript.FEED,
        otlp_hosts.TRACES,
        copilot_hooks.FEED,
        copilot_store.FEED,
        copilot_transcript.FEED,
        cursor_csv.FEED,
        usage_record.FEED,
        litellm.FEED,
    )
}
