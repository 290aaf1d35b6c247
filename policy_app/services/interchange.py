"""Policies as files: ECM's `policy.yaml`, and the table's own JSON."""

from dataclasses import dataclass
from datetime import datetime

from ecm_site.common.problems import DomainError
from policy_app.kernel.interchange import Remark, import_policy
from policy_app.kernel.interchange_export import export_policy
from policy_app.models import Draft, Policy, Version
from policy_app.services import drafting, tables
from policy_app.services.actors import Actor


class NotImportable(DomainError):
    """400: the file holds no table; `remarks` say everything that is wrong."""

    def __init__(self, remarks: tuple[Remark, ...]) -> None:
        super().__init__("not_importable", "The file holds no table.", remarks=[remark_document(r) for r in remarks])


class NotExportable(DomainError):
    """409: the table says something that the file format cannot say."""

    def __init__(self, remarks: tuple[Remark, ...]) -> None:
        message = "The file format cannot say what this table says; export it as JSON."
        super().__init__("not_exportable", message, 409, remarks=[remark_document(r) for r in remarks])


@dataclass(frozen=True, slots=True)
class Read:
    """What a file holds: canonical content, the pins that it names, and what was not taken over, in words."""

    content: str
    pins: tuple[str, ...]
    remarks: tuple[Remark, ...]


def read(*, source: bytes, is_yaml: bool) -> Read:
    """The table of a file. Raises `NotImportable` or `BadTable`."""
    if not is_yaml:
        return Read(tables.canonical_text(source), (), ())
    imported = import_policy(source)
    if imported.table is None:
        raise NotImportable(imported.remarks)
    return Read(tables.canonical_text(imported.table), imported.pins, imported.remarks)


def import_draft(*, policy: Policy, file: Read, title: str, reason: str, by: Actor, now: datetime) -> Draft:
    """A draft with the content of a file, on top of the live version. Raises what `drafting.start` raises."""
    return drafting.start(policy=policy, title=title, content=file.content, reason=reason, by=by, now=now)


def export_yaml(*, version: Version) -> str:
    """The version as `policy.yaml`; what the format has no place for stands above it as comments.

    Raises `NotExportable`.
    """
    exported = export_policy(tables.parsed(version.content))
    if exported.text is None:
        raise NotExportable(exported.remarks)
    head = [f"version {version.number}, sha256 {version.digest}", *(remark.text for remark in exported.remarks)]
    return "".join(f"# {' '.join(line.split())}\n" for line in head) + exported.text


def remark_document(remark: Remark) -> dict[str, object]:
    """A remark as JSON values."""
    return {"field": remark.field, "severity": remark.severity.value, "text": remark.text}
