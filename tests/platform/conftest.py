"""Folders that an unprivileged PostgreSQL can enter, also when the tests run as root."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder whose parents are open to all users; pytest's own are closed."""
    folder = Path(tempfile.mkdtemp(prefix="ecm platform "))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
