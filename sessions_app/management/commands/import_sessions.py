"""`make import`: bring in the transcripts of this machine, numbers only, and say what they tell."""

import os
import sys
import time
from collections import Counter
from decimal import Decimal
from itertools import groupby
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from sessions_app.models import Call, Session, Team
from sessions_app.services import findings as finding
from sessions_app.services import folding, importing, stores
from sessions_app.services.findings import Findings
from sessions_app.services.ingest import Sender
from sessions_app.services.stores import Found

BAR = 12
#: So long the worker may take over one large session.
PATIENCE_SECONDS = 120


class Command(BaseCommand):
    help = "Import sessions of agent hosts: files or folders (default: those of this machine)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("paths", nargs="*", type=Path)
        parser.add_argument("--team", default="default", help="slug of the team that gets them")

    def handle(self, *args: Any, paths: list[Path], team: str, **options: Any) -> None:
        missing = [str(path) for path in paths if not path.exists()]
        if missing:
            raise CommandError(f"Not found: {', '.join(missing)}")
        files = stores.named(paths) if paths else stores.at_home(dict(os.environ))
        if not files:
            raise CommandError("No transcripts found. Try: make import PATHS=/folder/with/jsonl/files")
        found = Team.objects.filter(slug=team).first()
        if found is None:
            raise CommandError(f"No team '{team}'. Run make up once, or name an existing team with --team.")
        refused = self._read(files, Sender(found.pk, machine=importing.this_machine()))
        self._fold()
        self._tell(finding.findings(Session.objects.filter(team=found)), refused)

    def _read(self, files: list[Found], sender: Sender) -> list[tuple[Path, Any]]:
        started = time.monotonic()
        refused: list[tuple[Path, Any]] = []
        for name, group in groupby(files, key=lambda found: found.store.name):
            refused += self._read_store(name, list(group), sender)
        seconds, size = time.monotonic() - started, sum(found.size for found in files)
        self.stdout.write(f"  {size / 1e6 / max(seconds, 0.001):.0f} MB/s   {seconds:.1f} s")
        return refused

    def _read_store(self, name: str, files: list[Found], sender: Sender) -> list[tuple[Path, Any]]:
        total = sum(found.size for found in files) or 1
        done, records = 0, 0
        refused: list[tuple[Path, Any]] = []
        for found in files:
            for progress in found.store.read(path=found.path, feed=found.store.feed, sender=sender, now=timezone.now()):
                records += progress.accepted
                refused += [(found.path, refusal) for refusal in progress.refused]
                if found.size > importing.PIECE:
                    self._progress(name, len(files), records, (done + progress.read_bytes) / total)
            done += found.size
            self._progress(name, len(files), records, done / total)
        self._progress(name, len(files), records, 1.0, last=True)
        self.stdout.write("")
        if name == stores.UNKNOWN.name:
            self.stdout.write(
                "  No feed of this version knows their shape. They are kept, reduced; after an update"
                " python manage.py reread reads them."
            )
        return refused

    def _progress(self, name: str, files: int, records: int, share: float, *, last: bool = False) -> None:
        if not sys.stdout.isatty() and not last:
            return
        filled = int(min(share, 1.0) * BAR)
        line = f"  {name:<11}   {files:,} files   {records:,} new records   {'█' * filled}{'░' * (BAR - filled)}"
        self.stdout.write(("\r" if sys.stdout.isatty() else "") + line, ending="")

    def _fold(self) -> None:
        """Do here what the worker has not done yet, so that the sentences below are complete."""
        waiting = folding.dirty_ids(limit=1_000_000)
        large = folding.large_ids(waiting)
        for number, session_id in enumerate(waiting, 1):
            if session_id not in large:
                folding.fold_all([session_id], timezone.now())
            if sys.stdout.isatty() and number % 10 == 0:
                self.stdout.write(f"\r  Working out what happened   {number} of {len(waiting)} sessions", ending="")
        self._wait_for_worker()
        while waits := folding.dirty_ids(limit=1_000):
            folding.fold_all(waits, timezone.now())
            time.sleep(0.05)
        self.stdout.write("\r" if sys.stdout.isatty() and waiting else "", ending="")

    def _wait_for_worker(self) -> None:
        """Leave the largest sessions to the worker, which takes their memory, as long as it gets on with them."""
        before, patience = None, time.monotonic() + PATIENCE_SECONDS
        while (left := frozenset(folding.dirty_ids(limit=1_000))) and time.monotonic() < patience:
            if left != before:
                before, patience = left, time.monotonic() + PATIENCE_SECONDS
            folding.fold_all(sorted(left - folding.large_ids(left)), timezone.now())
            time.sleep(0.1)

    def _tell(self, found: Findings, refused: list[tuple[Path, Any]]) -> None:
        write = self.stdout.write
        write(
            "  Kept: numbers, times, models, branches, tool names, sizes."
            "  Not kept: prompts, answers, tool output, paths."
        )
        self._tell_refused(refused)
        write(f"\n  {found.days} days, {found.sessions:,} sessions, {found.calls:,} calls")
        write(f"  {dollars(found.cost_usd):<11} at list price. If you have a subscription, this is not your bill.")
        write(f"  {dollars(found.saved_usd):<11} more without the cache")
        write(f"  {dollars(found.avoidable_usd):<11} avoidable: sent again for a cause that is known")
        write(f"  {dollars(found.unexplained_usd):<11} misses that these files cannot explain")
        larger = f"; {found.compactions_larger} left the context larger than before" if found.compactions else ""
        write(f"  {found.compactions:<11} compactions{larger}")
        if found.compaction_calls_unseen:
            n = found.compaction_calls_unseen
            write(
                f"  The total is a lower bound: transcripts do not record a compaction's own call ({n} of them here)."
            )
        if found.unpriced_calls:
            write(f"  {found.unpriced_calls:,} calls have no price yet and are in no sum of money.")
        if found.dearest:
            self._tell_dearest(found.dearest)

    def _tell_refused(self, refused: list[tuple[Path, Any]]) -> None:
        if not refused:
            return
        codes = Counter(refusal.code for _, refusal in refused)
        path, first = refused[0]
        kinds = ", ".join(f"{n} {code}" for code, n in codes.most_common(3))
        self.stdout.write(
            f"  Refused {len(refused)} lines: {kinds} (first: line {first.position:,} of {path.name}: {first.message})"
        )

    def _tell_dearest(self, call: Call) -> None:
        project = call.session.project.name if call.session.project else "no project"
        tokens = f"{call.missed_tokens / 1000:.0f}k tokens ({call.model})"
        self.stdout.write(
            f"\n  Your dearest miss   {call.started_at:%-d %b %H:%M} UTC, {project}: {dollars(call.miss_cost_usd)}"
            f" to send {tokens} again{self._why(call)}"
        )
        self.stdout.write(f"                      {settings.PUBLIC_URL}/s/{call.session_id}#c{call.number}")

    def _why(self, call: Call) -> str:
        before = (
            Call.objects.filter(session=call.session_id, thread=call.thread, number__lt=call.number, purpose="turn")
            .order_by("-number")
            .first()
        )
        minutes = int((call.started_at - before.started_at).total_seconds() // 60) if before else 0
        return f" after {minutes} minutes away" if call.miss_cause.startswith("ttl_") else ", why is not in these files"


def dollars(amount: Decimal | None) -> str:
    """Money for people: cents from a dollar on, more digits below; a question mark where nothing is priced."""
    if amount is None:
        return "?"
    return f"${amount:,.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}"
