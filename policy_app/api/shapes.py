"""Answers: rows as JSON values."""

from ecm_site.common import clock
from policy_app.kernel.evaluate import Step, Verdict
from policy_app.kernel.meters import verdict_document
from policy_app.kernel.parameter_documents import parameters_document
from policy_app.kernel.rule_documents import condition_document
from policy_app.kernel.signals import value_document
from policy_app.models import Assignment, AuditEntry, Draft, Evidence, Policy, Provisional, Review, Version
from policy_app.services import contents, findings, reviewing, tables
from policy_app.services.actors import Actor
from policy_app.services.blaming import Blame
from policy_app.services.evidence import Mismatch

type Json = dict[str, object]


def policy(row: Policy, live: Version | None) -> Json:
    """A policy and what is live of it."""
    return {
        "slug": row.slug,
        "name": row.name,
        "four_eyes": row.four_eyes,
        "live": version(live) if live else None,
    }


def version(row: Version) -> Json:
    """A version without its content."""
    return {
        "number": row.number,
        "digest": row.digest,
        "chain": row.chain,
        "published_at": row.published_at,
        "published_by": row.published_by_name,
        "reason": row.reason,
        "four_eyes": row.four_eyes,
        "reverts": row.reverts.number if row.reverts else None,
        "draft": row.draft_id,
        "provisional": provisional(row.provisional) if hasattr(row, "provisional") else None,
    }


def version_with_content(row: Version, of: Policy) -> Json:
    """A version and its `table` or `pin_set`."""
    return {**version(row), contents.of(of).field: tables.document_of(row.content)}


def provisional(row: Provisional) -> Json:
    """The terms of a provisional version."""
    return {
        "authority": row.authority,
        "undo": row.undo,
        "expires_at": row.expires_at,
        "settled_at": row.settled_at,
        "outcome": row.outcome,
    }


def draft(row: Draft, actor: Actor) -> Json:
    """A draft without its content; `may_approve` is about the caller."""
    return {
        "id": row.pk,
        "title": row.title,
        "state": row.state,
        "revision": row.revision,
        "base": row.base.number if row.base else None,
        "digest": tables.digest_of(row.content),
        "reason": row.reason,
        "updated_at": row.updated_at,
        "updated_by": row.updated_by_name,
        "may_approve": reviewing.may_approve(draft=row, by=actor),
    }


def draft_with_content(row: Draft, actor: Actor) -> Json:
    """A draft with its `table` or `pin_set`, findings, editors, reviews, and what it changes on its base."""
    base, held = row.base, contents.of(row.policy)
    found = findings.findings_of(policy=row.policy, content=row.content, now=clock.now())
    return {
        **draft(row, actor),
        held.field: tables.document_of(row.content),
        "findings": [tables.finding_document(each) for each in found],
        "diff": held.differences(base.content, row.content) if base else [],
        "edits": [
            {"revision": each.revision, "by": each.by_name, "at": each.at, "digest": each.digest}
            for each in row.edits.order_by("revision")
        ],
        "reviews": [review(each, row) for each in row.reviews.order_by("pk")],
    }


def review(row: Review, of: Draft) -> Json:
    """A review; `void` once the draft was edited after it."""
    return {
        "revision": row.revision,
        "verdict": row.verdict,
        "by": row.by_name,
        "at": row.at,
        "reason": row.reason,
        "void": row.revision != of.revision,
    }


def assignment(row: Assignment, name: str) -> Json:
    """An assignment; `version` None follows the newest."""
    return {
        "kind": row.kind,
        "scope_kind": row.scope_kind,
        "scope": name,
        "policy": row.policy.slug if row.policy else None,
        "version": row.version.number if row.version else None,
        "from_at": row.from_at,
        "at": row.at,
        "by": row.by_name,
        "reason": row.reason,
    }


def audit(row: AuditEntry) -> Json:
    """One act."""
    return {
        "number": row.number,
        "at": row.at,
        "actor": row.actor_name,
        "actor_id": row.actor_id,
        "action": row.action,
        "subject": row.subject,
        "reason": row.reason,
        "evidence": row.evidence,
        "before": row.before_digest,
        "after": row.after_digest,
        "chain": row.chain,
    }


def evidence(row: Evidence) -> Json:
    """One claim."""
    return {
        "slug": row.slug,
        "claim": row.claim,
        "number": row.number,
        "scope": row.scope,
        "tier": row.tier,
        "date": row.dated,
        "source": row.source,
        "status": row.status,
        "revision": row.revision,
        "updated_at": row.updated_at,
    }


def blame(row: Blame) -> Json:
    """Since when a rule reads as it does."""
    return {
        "rule": row.rule,
        "since": row.since,
        "by": row.by,
        "at": row.at,
        "reason": row.reason,
        "evidence": list(row.evidence),
    }


def mismatch(row: Mismatch) -> Json:
    """An argument that no longer matches."""
    return {
        "subject": row.subject,
        "evidence": row.evidence,
        "confirmed": row.confirmed,
        "now": row.now,
        "why": row.why,
    }


def verdict(found: Verdict) -> Json:
    """A verdict: the fields of the ECM file, and why."""
    fields = verdict_document(found)
    share = fields["tool_result_share_est"]
    lever = found.lever
    return {
        **fields,
        "tool_result_share_est": None if share is None else float(str(share)),
        "reason": found.reason,
        "evidence": list(found.evidence),
        "parameters": parameters_document(found.parameters),
        "window_tokens": found.situation.window_tokens,
        "window_by": found.situation.window_by,
        "utilization": value_document(found.situation.signals["utilization"]),
        "lever": None if lever is None else {"force": lever.force, "addressee": lever.addressee, "by": lever.by},
        "trace": [_step(each) for each in found.trace],
    }


def _step(step: Step) -> Json:
    told: Json = {"rule": step.rule, "outcome": step.outcome.value}
    if step.failed is not None:
        told["failed"] = {"signal": step.failed.signal, **condition_document(step.failed)}
        told["value"] = None if step.value is None else value_document(step.value)
    return told
