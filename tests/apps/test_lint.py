from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Result = subprocess.CompletedProcess[str]

GOOD = '''
from wieldy import tool

@tool(effect="read", examples=[{"city": "Oslo"}])
def get_temperature(city: str) -> float:
    """Measure how warm it is in one city at this moment, in degrees Celsius.

    Args:
        city: The English name of one city, such as "Rome".
    """
    return 4.0
'''
UNDECLARED = '''
def book_table(guests: int) -> str:
    """Book a table in the canteen for the coming lunch and return its number.

    Args:
        guests: How many people come, between 1 and 8.
    """
'''
MISSING = "print('imported')\ndef f(x: int) -> str:\n    return 'x'\n"


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / f"tools_{len(list(tmp_path.glob('tools_*')))}.py"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_good_tools_end_with_0_and_say_what_they_cost(
    wieldy: Callable[..., Result], file: Callable[[str], Path]
) -> None:
    result = wieldy("lint", file(GOOD))

    assert result.returncode == 0, result.stdout
    assert "1 tool, about " in result.stdout
    assert "Nothing to complain about." in result.stdout


@pytest.mark.parametrize(
    ("text", "finding"),
    [(MISSING, "error    description-missing"), (UNDECLARED, "warning  effect-undeclared")],
)
def test_errors_and_warnings_end_with_1(
    wieldy: Callable[..., Result], file: Callable[[str], Path], text: str, finding: str
) -> None:
    result = wieldy("lint", file(text))

    assert result.returncode == 1
    assert finding in result.stdout
    assert "1 tool, about " in result.stdout


def test_notes_are_told_and_end_with_0(wieldy: Callable[..., Result], file: Callable[[str], Path]) -> None:
    result = wieldy("lint", file(GOOD.replace('effect="read"', 'effect="idempotent"')))

    assert result.returncode == 0, result.stdout
    assert "note     effect-doubtful" in result.stdout


@pytest.mark.parametrize("example", ["everyday/tools.py", "shop/shop.py"])
def test_the_examples_are_clean(wieldy: Callable[..., Result], example: str) -> None:
    result = wieldy("lint", Path(__file__).parents[2] / "examples" / example)

    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_the_table_fits_the_terminal(wieldy: Callable[..., Result], file: Callable[[str], Path], columns: int) -> None:
    result = wieldy("lint", file(MISSING), COLUMNS=str(columns))

    assert "description-missing" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= columns


def test_machines_get_one_object_and_nothing_that_a_file_prints(
    wieldy: Callable[..., Result], file: Callable[[str], Path]
) -> None:
    result = wieldy("lint", file(MISSING), file(GOOD), "--json")

    report = json.loads(result.stdout)
    assert result.returncode == 1
    assert result.stderr == "imported\n"
    assert [tool["name"] for tool in report["tools"]] == ["f", "get_temperature"]
    assert report["tokens"] == sum(tool["tokens"] for tool in report["tools"]) > 0
    assert report["errors"] == sum(finding["severity"] == "error" for finding in report["findings"]) > 0
    assert {"rule", "severity", "tools", "message"} == report["findings"][0].keys()


def test_a_file_that_cannot_be_loaded_ends_with_2_and_its_line(
    wieldy: Callable[..., Result], file: Callable[[str], Path]
) -> None:
    result = wieldy("lint", file("x = 1\ndef f(:\n"), "--json")

    assert result.returncode == 2
    failure = json.loads(result.stdout)
    assert (failure["type"], failure["error"]) == ("error", "UsageError")
    assert failure["message"].endswith("tools_0.py:2: invalid syntax")
    assert "tools_0.py:2: invalid syntax" in result.stderr
    assert wieldy("lint", "missing.py").returncode == 2
    assert wieldy("lint", "missing.py").stdout == ""
    assert wieldy("lint").returncode == 2


def test_machines_get_their_object_even_if_a_file_closes_standard_output(
    wieldy: Callable[..., Result], file: Callable[[str], Path]
) -> None:
    result = wieldy("lint", file("import sys\nprint('noise')\nsys.stdout.close()\n1 / 0\n"), "--json")

    assert result.returncode == 2
    assert "ZeroDivisionError" in json.loads(result.stdout)["message"]


UNIQUE = '''
from typing import Annotated
from pydantic import Field
from wieldy import tool

@tool(effect="read", examples=[{"words": [1]}])
def count_words(words: Annotated[list[int], Field(json_schema_extra={"uniqueItems": True})]) -> int:
    """Count how many of the numbers occur in the book that the reader has opened.

    Args:
        words: The numbers of the words, each once.
    """
    return 1
'''


def test_what_a_model_is_not_held_to_is_said_for_each_tool(
    wieldy: Callable[..., Result], file: Callable[[str], Path]
) -> None:
    result = wieldy("lint", file(UNIQUE))

    assert "Not held to while a model writes, but checked afterwards:" in result.stdout
    assert "count_words #/properties/words `uniqueItems`: by the validator" in " ".join(result.stdout.split())
    assert "Not held to" not in wieldy("lint", file(GOOD)).stdout
    report = json.loads(wieldy("lint", file(UNIQUE), "--json").stdout)
    assert {"tool": "count_words", "keyword": "uniqueItems", "by": "validator"}.items() <= next(
        entry for entry in report["enforcement"] if entry["by"] != "mask"
    ).items()
