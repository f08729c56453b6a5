"""The program of the tutorial about runs that survive, killed and resumed as the page says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS, SCRIPT, POLICY = re.findall(
    r"^```python\n(.*?)^```$",
    (ROOT / "docs" / "tutorial-runtime.md").read_text(encoding="utf-8"),
    flags=re.DOTALL | re.MULTILINE,
)
PLAY, MAIN = SCRIPT.split("agent = ")[0], "\nif __name__" + SCRIPT.split("\nif __name__")[1]


class Reader:
    """Somebody who types what the page says into a shell, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def python(self, *arguments: str, program: str = SCRIPT, **environment: str) -> subprocess.CompletedProcess[str]:
        (self._folder / "shop.py").write_text(TOOLS + program, encoding="utf-8")
        return self._run([sys.executable, "shop.py", *arguments], environment)

    def wieldy(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self._run([sys.executable, "-m", "wieldy.apps.cli.main", *arguments, "--journal", "shop.db"], {})

    def newest(self) -> dict[str, str]:
        found: dict[str, str] = json.loads(self.wieldy("runs", "--json").stdout.splitlines()[0])
        return found

    def _run(self, command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self._folder,
            # A terminal shows each line at once; a pipe would lose what a process that dies has printed.
            env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    return Reader(tmp_path)


def test_a_refund_that_died_is_made_again_with_the_same_key(reader: Reader) -> None:
    died = reader.python(DIE="1")
    assert died.returncode == 9
    run = reader.newest()
    assert run["status"] == "died"
    resumed = reader.python(run["run_id"])
    assert resumed.stdout.splitlines()[0] == died.stdout.splitlines()[0]
    assert resumed.stdout.count("a letter goes out") == 1
    assert "answered · Refunded, and the customer knows." in resumed.stdout


def test_a_letter_that_died_is_not_sent_again(reader: Reader) -> None:
    died = reader.python(DIE_LATER="1")
    assert "a letter goes out" in died.stdout
    run_id = reader.newest()["run_id"]
    resumed = reader.python(run_id)
    assert resumed.stdout == f"answered · Refunded, and the customer knows. · {run_id}\n"
    assert "outcome unknown" in " ".join(reader.wieldy("show", run_id).stdout.split())


def test_a_person_decides_in_another_process_and_the_record_is_whole(reader: Reader) -> None:
    program = PLAY + POLICY + MAIN
    waiting = reader.python(program=program)
    assert waiting.stdout.startswith("waiting_for_approval")
    run_id = reader.newest()["run_id"]
    assert "more than 20 dollars" in reader.wieldy("approve", run_id).stdout
    assert reader.wieldy("approve", run_id, "c2").returncode == 0
    assert reader.python(run_id, program=program).stdout.endswith(
        f"answered · Refunded, and the customer knows. · {run_id}\n"
    )
    assert reader.wieldy("verify").returncode == 0
