"""Environment and database of every test run. Loaded by `-p` in pyproject.toml.

DATABASE_URL is honoured; otherwise the private test server of this checkout is started at the first
test that asks for the database. Runs may go side by side: each has a database of its own.
"""

import os
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import settings

from ecm_site.embedded import for_tests

# How long one example takes says how busy the machine is, not whether a law holds.
settings.register_profile("laws", deadline=None)
settings.load_profile("laws")

GIVEN = bool(os.environ.get("DATABASE_URL"))


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Iterator[None]:
    """Runs before pytest-django reads the settings."""
    # A data folder of its own: a running `make up` must not lend tests its database or broker.
    folder = tempfile.TemporaryDirectory(prefix="ecm-tests-")
    early_config.add_cleanup(folder.cleanup)
    os.environ["ECM_DATA"] = folder.name
    os.environ.setdefault("ECM_SECRET_KEY", "only-for-tests")
    os.environ.pop("REDIS_URL", None)
    if not GIVEN:
        os.environ["DATABASE_URL"] = for_tests.cluster().url()
    yield
