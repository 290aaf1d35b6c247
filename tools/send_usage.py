#!/usr/bin/env python3
"""Reference sender: tell ECM what calls of a model used. Standard library only; copy it, or pipe records into it.

    from send_usage import Sender
    ecm = Sender("https://ecm.example.com", key)
    answer = client.messages.create(...)
    ecm.tell("my-session", "anthropic", answer.model, answer.usage.model_dump(), id=answer.id)

    my-program | ECM_URL=… ECM_INGEST_KEY=… ./send_usage.py          # one record a line

Send the provider's own usage object; nothing of what was said is needed. A record with an id may be sent twice.
The caller never waits and never fails: what cannot be delivered is held for the next try.
"""

import json
import os
import sys
import threading
import time
import urllib.request

MOST_HELD, AT_ONCE = 10_000, 500


class Sender:
    """Holds records until they are delivered; one thread sends them every few seconds."""

    def __init__(self, url, key, every=5.0):
        self.url = url.rstrip("/") + "/api/v1/usage"
        self.headers = {"Authorization": "Bearer " + key, "Content-Type": "application/json"}
        self.held, self.lock = [], threading.Lock()
        threading.Thread(target=self._run, args=(every,), daemon=True).start()

    def tell(self, session, provider, model, usage, **more):
        """One call; `more`: id, request_id, started_at, ended_at (ISO 8601), thread, purpose, project, window …"""
        record = {"session": session, "provider": provider, "model": model, "usage": usage, **more}
        with self.lock:
            self.held = [*self.held, record][-MOST_HELD:]

    def flush(self):
        """Deliver what is held: the receipts so far. What the server does not understand is dropped, not repeated."""
        receipts = []
        while part := self.held[:AT_ONCE]:
            try:
                request = urllib.request.Request(self.url, json.dumps(part).encode(), self.headers)  # noqa: S310
                with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
                    receipts.append(json.load(answer))
            except OSError as error:
                if getattr(error, "code", 0) not in (400, 413, 415):
                    return receipts
                receipts.append({"dropped": len(part), "error": str(error)})
            with self.lock:
                self.held = [record for record in self.held if record not in part]
        return receipts

    def _run(self, every):
        while True:
            time.sleep(every)
            self.flush()


if __name__ == "__main__":
    sender = Sender(os.environ["ECM_URL"], os.environ["ECM_INGEST_KEY"])
    for line in sys.stdin:
        sender.tell(**json.loads(line))
    print(json.dumps(sender.flush()))
    sys.exit(0 if not sender.held else 1)
