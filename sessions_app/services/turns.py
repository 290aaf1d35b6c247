"""One delivery's turn: what it tells of compactions is taken, then its hook is answered, one delivery at a time."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from policy_app.kernel.messages import tokens_at_most
from policy_app.services.pinning import LivePins
from sessions_app.feeds.husk_strings import kept_id
from sessions_app.kernel.trail import Trail
from sessions_app.models import Restoration, Session, Standing, Verdict
from sessions_app.services import bracket, considering, dialects, instructions, judging, living, verdicts
from sessions_app.services.considering import Considered, Known
from sessions_app.services.deliveries import Delivery, Entry
from sessions_app.services.judging import Hook, Said
from sessions_app.services.store import Rows, cursor, pipeline

JUDGED = judging.DECIDES | judging.RAISES
#: In plain SQL: composing these takes longer than running them, and a hook waits for it.
_MUTABLE = ("operation", "zone", "spoken", "advised_at", "warned_at", "messages", "injected_tokens")
_SETTLE = f"UPDATE sessions_app_standing SET {', '.join(f'{name} = %b' for name in _MUTABLE)} WHERE id = %b"  # noqa: S608 - names of columns
_NAMES = tuple(f.attname for f in Standing._meta.concrete_fields)
#: The commit waits for no disk: the host has its answer anyway, and what it told is stored before.
_STANDING = (
    f"SELECT {', '.join(_NAMES)}, set_config('synchronous_commit', 'off', true) FROM sessions_app_standing"  # noqa: S608 - names of columns
    " WHERE session_id = %b AND thread = %b AND is_drill = %b FOR UPDATE"
)


class Turn:
    """One delivery of one session, under the lock of its standing row."""

    def __init__(
        self,
        delivery: Delivery,
        known: Known,
        considered: Considered | None,
        pins: LivePins | None,
        drill: dict[str, int] | None,
        now: datetime,
        standing: Standing | None = None,
    ) -> None:
        self.delivery, self.known, self.considered = delivery, known, considered
        self.pins, self.drill, self.now = pins, drill, now
        self.session, self.is_telling = known.session, delivery.is_telling
        self.standing = standing or locked(self.session, "", is_drill=drill is not None)

    def take(self, asked: Entry | None) -> str:
        """Take what is told, in the order in which it can only have happened; the answer for `asked`."""
        restoration = self._tell()
        if asked is None:
            return ""
        if asked.event == "PreCompact":
            return dialects.before_compaction(self.delivery.host, bracket.before(self.pins))
        if asked.event not in JUDGED or not dialects.hears(self.delivery.host, asked.event):
            return ""
        return self._judge(asked, restoration)

    def _tell(self) -> Restoration | None:
        restoration: Restoration | None = None
        for entry in self.delivery.entries:
            if entry.is_after_compaction:
                restoration = self._started_again(entry)
            elif entry.event == "PostCompact":
                bracket.note_end(session=self.session, at_ms=entry.at_ms, trigger=entry.text("trigger"))
            elif entry.event == "InstructionsLoaded":
                machine = self.delivery.machine
                instructions.note(session=self.session, payload=entry.payload, machine=machine, at_ms=entry.at_ms)
            elif entry.event == "ConfigChange":
                instructions.note_settings(session=self.session, payload=entry.payload, at_ms=entry.at_ms)
        for told, at_ms in self.delivery.survival:
            bracket.note_survival(session=self.session, told=told, at_ms=at_ms)
        for told in self.delivery.printed:
            self._printed(told)
        return restoration

    def _started_again(self, entry: Entry) -> Restoration:
        path = self.known.state.trail or Trail()
        row, is_news = bracket.note_start(session=self.session, at_ms=entry.at_ms, path=path)
        if is_news:
            fresh = {"operation": "continue", "zone": "", "spoken": ""}
            Standing.objects.filter(session=self.session, thread="").update(**fresh)
            self.standing.refresh_from_db()
        return row

    def _printed(self, told: Mapping[str, Any]) -> None:
        if not bracket.note_printed(session=self.session, told=told, now=self.now):
            waiting = Verdict.objects.filter(session=self.session, printed_at=None).spoken()
            waiting.filter(answer_digest=bracket.digest_in(told.get("sha256")) or "-").update(printed_at=self.now)

    def _judge(self, asked: Entry, restoration: Restoration | None) -> str:
        standing, known, considered = self.standing, self.known, self.considered
        if thread := thread_of(asked):
            standing = locked(self.session, thread, is_drill=self.drill is not None)
            known = considering.of_thread(known, thread)
            considered = considering.consider(known, now=self.now, drill=self.drill, thread=thread)
        before = _mutable(standing)
        if asked.event in judging.DECIDES and not self.delivery.is_host:
            judging.forget_unheard(standing=standing)
        hook = Hook(
            event=asked.event,
            thread=thread[: living.LONGEST_THREAD],
            link=self.delivery.link,
            started=self.delivery.started,
            source=asked.text("source"),
            drill=self.drill,
        )
        said = judging.judge(hook=hook, known=known, considered=considered, standing=standing, now=self.now)
        if not thread:
            self._bracketed(asked, restoration, said)
        text = dialects.said(self.delivery.host, asked.event, said.to_model, said.to_human)
        if said.verdict is not None and text:
            said.verdict.answer_digest = judging.digest_of(text)
            said.verdict.printed_at = self.now if self.delivery.is_host else None
        with pipeline(), cursor() as cur:
            if said.verdict is not None:
                verdicts.store(said.verdict)
            if _mutable(standing) != before:
                cur.execute(_SETTLE, (*_mutable(standing), standing.pk))
        if text and restoration is not None:
            restoration.answer_digest = judging.digest_of(text)
            restoration.save(update_fields=["answer_digest"])
        return text

    def _bracketed(self, asked: Entry, restoration: Restoration | None, said: Said) -> None:
        """Put pins back after a compaction, or at the next prompt where that did not arrive; tell the person."""
        pins = self.pins
        if restoration is not None and asked.is_after_compaction and pins is not None:
            text = bracket.restore(row=restoration, pins=pins, now=self.now, is_sure=self.delivery.is_host)
            self._add(said, text, self._back(restoration, pins) if text else "")
        elif asked.event == "UserPromptSubmit" and (self.known.was_compacted or self.is_telling):
            text, row = bracket.repair(session=self.session, pins=self.pins, now=self.now)
            self._add(said, text, self._kept(row) if row else "")

    def _add(self, said: Said, to_model: str, to_human: str) -> None:
        said.to_model = "\n\n".join(part for part in (to_model, said.to_model) if part)
        if to_human and self.session.muted_at is None:
            said.to_human = "\n".join(part for part in (to_human, said.to_human) if part)
        if to_model:
            self.standing.injected_tokens += tokens_at_most(to_model)

    def _back(self, row: Restoration, pins: LivePins) -> str:
        """What the person reads right after a compaction."""
        count, all_of = len(pins.pins), len(pins.pins) + len(pins.left_out)
        words = [f"{count} of {all_of} pins are back."]
        if row.sink == "none" and self.standing.warned_at is None:
            self.standing.warned_at = self.now
            words.append("Nothing had been written to durable memory before this compaction.")
        return " ".join([*words, self.delivery.session_link.format(self.session.pk)])

    def _kept(self, row: Restoration) -> str:
        """What the person reads at the first prompt after it: what the summary itself held."""
        found = bracket.survived(row)
        if row.told_at is not None or found is None:
            return ""
        row.told_at = self.now
        row.save(update_fields=["told_at"])
        words = [f"In the summary itself {found[0]} of {found[1]} pins word for word."]
        return " ".join([*words, self.delivery.session_link.format(self.session.pk)])


def thread_of(asked: Entry) -> str:
    """The subagent's thread; the summariser runs as an agent without a type, and is nobody's subagent."""
    return kept_id(asked.text("agent_id")) if asked.text("agent_type") else ""


def _mutable(row: Standing) -> tuple[object, ...]:
    return tuple(getattr(row, name) for name in _MUTABLE)


def locked(session: Session, thread: str, *, is_drill: bool) -> Standing:
    """The standing row, made where it is missing, locked until commit."""
    thread = thread[: living.LONGEST_THREAD]
    row = standing_in(ask_standing(session.pk, thread, is_drill=is_drill))
    if row is None:
        Standing.objects.get_or_create(session=session, thread=thread, is_drill=is_drill)
        row = standing_in(ask_standing(session.pk, thread, is_drill=is_drill))
    if row is None:
        raise Standing.DoesNotExist
    return row


def ask_standing(session_id: int, thread: str, *, is_drill: bool) -> Rows:
    """Ask for the standing row of a thread, locked until commit."""
    return cursor().execute(_STANDING, (session_id, thread, is_drill))


def standing_in(rows: Rows) -> Standing | None:
    """The row as it was asked for; None where there is none yet."""
    row = rows.fetchone()
    return None if row is None else Standing.from_db("default", _NAMES, row[: len(_NAMES)])
