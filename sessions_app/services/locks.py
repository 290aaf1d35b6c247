"""One writer of a session's projections at a time."""

from django.db import connection

#: The first half of the advisory lock of a session's fold (any constant of our own).
LOCK_SPACE = 0x0EC3


def lock_session(session_id: int) -> bool:
    """Take the session until the end of the transaction; False when somebody else has it.

    The transaction's commit waits for no disk: projections are made again from readings, where they are lost.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_try_advisory_xact_lock(%s, %s), set_config('synchronous_commit', 'off', true)",
            [LOCK_SPACE, session_id % (1 << 31)],
        )
        row = cursor.fetchone()
    return bool(row and row[0])
