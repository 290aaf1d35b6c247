"""The first ten minutes on a clean home, in a terminal: what docs/quickstart.md shows is what happens."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def titles(document: str) -> list[str]:
    return re.findall(r"^## (.+)$", document, re.MULTILINE)


@pytest.mark.skipif(not shutil.which("tmux"), reason="needs tmux")
def test_quickstart__clean_home_and_a_scripted_host__every_step_of_the_document(tmp_path: Path) -> None:
    out = tmp_path / "quickstart.md"
    command = [sys.executable, str(ROOT / "tools" / "quickstart.py"), "--scripted", "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    # The run itself compares what was served with what was counted, and the settings before and after.
    assert "WRONG" not in done.stdout
    assert done.stdout.count("served and counted are equal") == 2
    shown = out.read_text()
    assert titles(shown) == titles((ROOT / "docs" / "quickstart.md").read_text())
    assert "All three speak" in shown
    assert "says: DRILL · RED" in shown
    assert "pins are back" in shown
    assert "byte for byte" in shown
