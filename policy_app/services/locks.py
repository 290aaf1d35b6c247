"""One writer at a time in an organisation's policies."""

from django.db import connection

#: Keeps these advisory locks apart from others of the same database: "ecmp" in ASCII.
SPACE = 0x65636D70 << 31


def lock_organisation(organisation_id: int) -> None:
    """Wait for the organisation's lock and hold it until the transaction ends.

    Its audit chain has one last entry, so its acts are a line anyway; people write policies, so the line is short.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [SPACE + organisation_id])
