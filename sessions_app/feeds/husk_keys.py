"""Which keys of a record hold what: the allow-list by which `husk` decides. Exact spellings, all hosts."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Ids: kept when they look like one, else replaced by a hash, so that equal ids stay equal.
IDS = _words(
    "id uuid parentUuid logicalParentUuid leafUuid messageUuid sourceUuid source_uuid headUuid anchorUuid tailUuid"
    " uuids allUuids sessionId session_id session parentSessionId parent_session_id forkedFrom forked_from_id"
    " fork_session_id agentId agent_id parentAgentId parent_agent_id requestId requestID request_id client_request_id"
    " message_id messageId response_id responseId promptId prompt_id turn_id turnId conversation_id conversationId"
    " thread_id threadId tool_use_id toolUseId toolUseID parentToolUseID parent_tool_use_id sourceToolUseID"
    " sourceToolAssistantUUID compactedToolIds interruptedMessageId trace_id traceId span_id spanId parentSpanId"
    " generation_id call_id parent_thread_id compaction_response_id window_id previous_window_id apiCallId"
    " interactionId toolCallId parentToolCallId providerCallId parentId series session.id prompt.id request.id"
    " conversation.id gen_ai.response.id gen_ai.conversation.id input_hash"
    " parent_span_id langfuse.session.id ai.response.id copilot_chat.chat_session_id"
    " traceloop.association.properties.session_id traceloop.association.properties.thread_id"
)

#: One-word values: types, states, roles, reasons, names of tools and agents, versions.
TOKENS = _words(
    "type subtype role kind version cli_version userType entrypoint originator stop_reason service_tier speed"
    " inference_geo trigger level effort status state operation subagent_type agentType agent_type attributionAgent"
    " permissionMode permission_mode sessionKind promptSource toolDenialKind hook_event_name hookEventName"
    " hookEvent hook_event source reason tool_name toolName error_type notification_type precompute_reuse query_source"
    " querySource command_name command_source cache_miss_reason event signal host provider api thread purpose leaf"
    " convention window_origin unit currency temporality aggregation developer team service.name service.version"
    " event.name agent.name agent.source error.type success decision externalizes sink agent_role scope span.type"
    " ttl github.copilot.initiator github.copilot.trigger app.version initiator interactionType finishReason"
    " gen_ai.operation.name gen_ai.provider.name gen_ai.system gen_ai.agent.name openinference.span.kind"
    " llm.request.type traceloop.span.kind ai.operationId llm.provider llm.system"
)

#: Models; these alone may hold a slash.
MODELS = _words(
    "model modelId model_id model_name advisorModel resolvedModel modelsUsed preCompactModel original_model"
    " fallback_model gen_ai.request.model gen_ai.response.model ai.response.model ai.model.id"
    " llm.model_name llm.request.model llm.response.model"
)

#: Times; kept when they hold nothing but digits, signs and the letters T and Z.
TIMES = _words(
    "timestamp time at date created_at updated_at started_at ended_at completed_at occurred_at received_at"
    " createdAt updatedAt startedAt endedAt completedAt event.timestamp timeUnixNano observedTimeUnixNano"
    " startTimeUnixNano endTimeUnixNano"
)

#: Branches; a name that git would take, so no spaces and no absolute path.
BRANCHES = _words("gitBranch git_branch branch worktreeBranch vcs.ref.head.name")

#: Folders: the last part is kept, as the weak name of a project.
FOLDERS = _words("cwd current_dir project_dir projectDir working_directory workingDirectory workspace_root")

#: Git remotes: reduced to host/owner/name, without user, password and port.
REMOTES = _words(
    "git_remote gitRemote remote remote_url remoteUrl repository_url repositoryUrl repo_url vcs.repository.url.full"
)

#: Trees of content: one size each, whatever they hold; numbers and keys inside are content too.
CONTENT = _words(
    "text thinking input output_text message_text tool_input tool_response toolInput toolOutput toolArgs toolResult"
    " arguments args parameters result results prompt prompts lastPrompt custom_instructions instructions"
    " initialPrompt summary compact_summary compactSummary last_assistant_message response body snapshot backup"
    " attachment attachments data file files title aiTitle customTitle description plan planContent todos signature"
    " stdout stderr command env headers hookInfos hookErrors hookAdditionalContext classifierMetaLines"
    " permission_suggestions background_tasks session_crons added_dirs addedLines addedBlocks snippet diff patch"
    " file_path filePath path paths transcript_path agent_transcript_path filename output_style lines globs"
)

#: Names of projects: a git remote, or a name that may hold a slash.
PROJECTS = _words("project project_name")

#: What a tool result says of the agent that it ran.
AGENT_FACTS = ("agentId", "agentType")

#: Commands of the memory tool; a command outside of them is content.
MEMORY_COMMANDS = frozenset(("view", "create", "str_replace", "insert", "delete", "rename"))

#: Marks by which the host wraps what is no prompt of a person.
WRAPPERS = (
    ("<command-name>", "command"),
    ("<command-message>", "command"),
    ("<local-command-", "local"),
    ("<bash-", "shell"),
    ("<task-notification>", "notification"),
    ("<system-reminder>", "reminder"),
    ("[Request interrupted by user", "interrupted"),
    ("Caveat: ", "caveat"),
)
