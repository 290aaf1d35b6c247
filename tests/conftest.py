"""Fixtures for every test."""

import os
from pathlib import Path

import pytest

from ecm_site.embedded import for_tests
from tests.support.plugin import GIVEN


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """pytest-django asks for this right before it makes the test database."""
    from django.db import connections

    from tests.support.kept import let_tests_flush

    let_tests_flush()

    if not GIVEN:
        for_tests.ensure_running()
    connections["default"].settings_dict["TEST"]["NAME"] = for_tests.database_name()


@pytest.fixture(autouse=True)
def _fresh_prices() -> None:
    """What a process remembers of the database outlives a test's transaction."""
    from sessions_app.services import prices

    prices.forget()


@pytest.fixture
def data_folder() -> Path:
    """The data folder of this run."""
    return Path(os.environ["ECM_DATA"])
