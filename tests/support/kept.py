"""Emptying the test database although some tables refuse to be emptied."""

from typing import Any

from django.db.backends.postgresql.operations import DatabaseOperations

#: Tables whose rows the database keeps from everybody (policy_app/migrations/0002_guards.py).
KEPT = ("version", "auditentry", "draftedit", "review", "assignment")


def let_tests_flush() -> None:
    """Have Django's flush between transactional tests switch those triggers off and on again."""
    operations: Any = DatabaseOperations
    flush = operations.sql_flush

    def around(self: DatabaseOperations, style: Any, tables: Any, **options: Any) -> list[str]:
        kept = [f"policy_app_{name}" for name in KEPT if f"policy_app_{name}" in set(tables)]
        return [
            *(f"ALTER TABLE {name} DISABLE TRIGGER USER;" for name in kept),
            *flush(self, style, tables, **options),
            *(f"ALTER TABLE {name} ENABLE TRIGGER USER;" for name in kept),
        ]

    operations.sql_flush = around
