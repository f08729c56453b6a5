"""What the tutorial about chat formats lets its reader type works, and prints what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "tutorial-chat-formats.md").read_text(encoding="utf-8")
FILES = re.findall(r"`([\w.]+)`:\n\n```(?:json|text|jinja)\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)
COMMANDS = re.findall(r"^```sh\n(.*?)^```\n\n```\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reader's folder, with everything that the page says to put there."""
    folder = tmp_path_factory.mktemp("tutorial")
    for name, text in FILES:
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def like(printed: str) -> re.Pattern[str]:
    """Matches what is printed, where `...` stands for anything."""
    return re.compile(".*".join(map(re.escape, printed.rstrip("\n").split("..."))), flags=re.DOTALL)


def test_every_file_and_every_command_of_the_page_is_tried() -> None:
    assert [name for name, _ in FILES] == [
        "tools.json",
        "reply.txt",
        "qwen.txt",
        "messages.json",
        "chat_template.jinja",
    ]
    assert PAGE.count("```sh\n") == len(COMMANDS)


@pytest.mark.parametrize(("command", "printed"), COMMANDS, ids=[command.strip() for command, _ in COMMANDS])
def test_a_command_prints_what_the_page_says(command: str, printed: str, folder: Path) -> None:
    environment = {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "COLUMNS": "80",
        "HOME": str(folder),
        "LANG": "C.UTF-8",
    }

    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=60,
        text=True,
        check=False,
    )

    is_alike = like(printed).fullmatch(done.stdout.rstrip("\n")) is not None
    assert is_alike, done.stdout
