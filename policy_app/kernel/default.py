"""The table that ships as version 1 (ECM rules, 4), with the reason and the evidence of each row and line."""

from policy_app.kernel.conditions import OneOf, at_least, below
from policy_app.kernel.operations import Operation
from policy_app.kernel.signals import UNKNOWN
from policy_app.kernel.table import Argument, Rule, Table
from policy_app.kernel.zones import Zone

_CAP = "compaction_depth_cap"
_SHARE = "tool_result_share_prune"


def _in(*zones: Zone) -> OneOf:
    named = tuple(zone.value for zone in zones if zone is not Zone.UNKNOWN)
    return OneOf("zone", named, frozenset({UNKNOWN}) if Zone.UNKNOWN in zones else frozenset())


DEFAULT_TABLE = Table(
    rules=(
        Rule(
            "P1",
            Operation.WRAP_UP,
            (at_least("budget_spent_ratio", 1),),
            reason="A chain that runs at night has nobody to stop it.",
            evidence=("ecm-budget-ends-gracefully",),
        ),
        Rule(
            "P2",
            Operation.HANDOFF_FRESH,
            (_in(Zone.CRITICAL),),
            reason="An emergency: a minimal manifest is allowed.",
            evidence=("ecm-emergency-line",),
        ),
        Rule(
            "P3",
            Operation.COMPACT,
            (_in(Zone.RED), below("depth", 2, limit=_CAP)),
            reason="Compact at RED, before the host does it at the last moment, and re-inject the pins.",
            evidence=("ecm-mechanical-trigger", "pins-lost-first"),
        ),
        Rule(
            "P4",
            Operation.HANDOFF_FRESH,
            (_in(Zone.RED), at_least("depth", 2, limit=_CAP)),
            reason="No summary of a summary of a summary.",
            evidence=("ecm-depth-cap",),
        ),
        Rule(
            "P5",
            Operation.PRUNE_TOOL_RESULTS,
            (_in(Zone.AMBER), at_least("tool_result_share", "0.4", limit=_SHARE)),
            reason="A known loss before an unknown one.",
            evidence=("observation-masking", "ecm-known-loss-first"),
        ),
        Rule(
            "P6",
            Operation.EXTERNALIZE,
            (_in(Zone.AMBER),),
            reason="Write a checkpoint while it is cheap.",
            evidence=("specifics-lost-in-summaries",),
        ),
        Rule(
            "P7",
            Operation.CONTINUE,
            (_in(Zone.GREEN, Zone.UNKNOWN),),
            reason="Telemetry that is not known never escalates.",
            evidence=("ecm-unknown-continues",),
        ),
    ),
    arguments=(
        Argument("zones.amber", "long-context-f1", "0.5"),
        Argument("zones.amber", "length-alone-costs", "0.5"),
        Argument("zones.red", "ecm-mechanical-trigger", "0.75"),
        Argument("zones.critical", "ecm-emergency-line", "0.9"),
        Argument("limits.compaction_depth_cap", "ecm-depth-cap", "2"),
        Argument("limits.tool_result_share_prune", "ecm-known-loss-first", "0.4"),
        Argument("limits.injected_artifact_max_tokens", "ecm-prompt-budget", "200"),
    ),
)
