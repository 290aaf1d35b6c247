"""One file per kind of row, each with its constraints."""

from sessions_app.models.alerts import AlertEvent, AlertRule, AlertTarget, Letter, Notice, Occasion, TargetKind
from sessions_app.models.facts import ImportedFile, ReadingRow, VaultRecord
from sessions_app.models.keys import ApiKey, EntryLink, KeyKind
from sessions_app.models.ledger import AcceptedLoss, InstructionFile, Marker
from sessions_app.models.live import LiveThread
from sessions_app.models.price import PriceRow, Repricing
from sessions_app.models.projections import (
    Call,
    Clearing,
    Compaction,
    MissDay,
    MissSlot,
    Thread,
    ToolUse,
    UsageDay,
    UsageSlot,
)
from sessions_app.models.session import Host, Session
from sessions_app.models.source import Billing, BillingMode, SourceRow
from sessions_app.models.tenancy import Developer, Membership, Organisation, Project, Role, Team, Viewer
from sessions_app.models.verdict import Restoration, Standing, Verdict

__all__ = [
    "AcceptedLoss",
    "AlertEvent",
    "AlertRule",
    "AlertTarget",
    "ApiKey",
    "Billing",
    "BillingMode",
    "Call",
    "Clearing",
    "Compaction",
    "Developer",
    "EntryLink",
    "Host",
    "ImportedFile",
    "InstructionFile",
    "KeyKind",
    "Letter",
    "LiveThread",
    "Marker",
    "Membership",
    "MissDay",
    "MissSlot",
    "Notice",
    "Occasion",
    "Organisation",
    "PriceRow",
    "Project",
    "ReadingRow",
    "Repricing",
    "Restoration",
    "Role",
    "Session",
    "SourceRow",
    "Standing",
    "TargetKind",
    "Team",
    "Thread",
    "ToolUse",
    "UsageDay",
    "UsageSlot",
    "VaultRecord",
    "Verdict",
    "Viewer",
]
