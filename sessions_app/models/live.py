"""The live state of each thread: one row that a hook's answer reads, written in the ingest transaction."""

from django.db import models

from sessions_app.models.session import Session


class LiveThread(models.Model):
    """`state` is the kernel's encoding of `LiveState`; the main thread has the empty name."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="live_rows")
    thread = models.CharField(max_length=120, blank=True)
    state = models.TextField()
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "thread"], name="live_thread_once")]

    def __str__(self) -> str:
        return f"live {self.session_id} {self.thread or 'main'}"
