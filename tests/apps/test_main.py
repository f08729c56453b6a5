from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Result = subprocess.CompletedProcess[str]


def test_help_names_every_command_and_fits_the_terminal(wieldy: Callable[..., Result]) -> None:
    result = wieldy("--help", COLUMNS="80")

    assert result.returncode == 0
    for command in ("run", "resume", "approve", "deny", "runs", "show", "verify", "lint", "doctor", "formats"):
        assert re.search(rf"^\W*{command}\s", result.stdout, flags=re.MULTILINE)
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "\x1b" not in result.stdout


def test_help_does_not_wait_for_what_only_the_commands_need() -> None:
    code = "import sys, wieldy.apps.cli.main; print(*sys.modules)"

    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert "typer" in loaded
    assert not {
        "pydantic",
        "httpx2",
        "sqlite3",
        "xllamacpp",
        "llguidance",
        "psycopg",
        "wieldy.tools",
        "wieldy.run",
        "wieldy.agent",
    } & set(loaded)


@pytest.mark.parametrize(
    "words",
    [
        "run Hi --model http://127.0.0.1:9/v1 --tools shop.py --mcp none.json",
        "resume last",
        "approve last",
        "deny last 1",
        "runs",
        "show last",
        "verify",
        "lint shop.py",
        "tools --openapi none.json",
        "search refund --catalog shop.py",
        "gateway none.json",
        "serve --host 0.0.0.0 --upstream http://127.0.0.1:9/v1#m",
        "doctor",
        "exec shop.py",
        "eval --template tasks.jsonl",
        "eval none.jsonl",
        "eval plan --tasks 100",
        "report",
        "formats list",
        "sandbox probe",
        "skills list",
    ],
)
def test_each_command_finds_by_itself_what_it_needs(
    words: str, environment: dict[str, str], tools_file: Path, tmp_path: Path
) -> None:
    assert tools_file.name == "shop.py"

    result = subprocess.run(
        [sys.executable, "-W", "error", "-m", "wieldy.apps.cli.main", "--debug", *words.split()],
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
        check=False,
        timeout=60,
    )

    assert result.returncode in (0, 1, 2)
    assert "ImportError" not in result.stderr
    assert "Warning" not in result.stderr


@pytest.mark.parametrize("arguments", [(), ("nonsense",), ("show",), ("--nonsense",), ("runs", "--limit", "many")])
def test_wrong_usage_ends_with_2_and_a_hint(wieldy: Callable[..., Result], arguments: tuple[str, ...]) -> None:
    result = wieldy(*arguments)

    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    assert "-h" in result.stderr + result.stdout


def test_the_version_is_printed(wieldy: Callable[..., Result]) -> None:
    assert re.fullmatch(r"wieldy \d+\.\d+\.\d+\S*\n", wieldy("--version").stdout)
