"""`wieldy skills` and `wieldy run --skills`, each as a process of its own."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wieldy.sandbox import probe

Wieldy = Callable[..., subprocess.CompletedProcess[str]]

TOOLS = '''
import wieldy

@wieldy.tool(effect="read")
def orders(city: str) -> list[int]:
    """The sums of a city's orders."""
    print("this is the tool's own")
    return [len(city), 10, 7]
'''
CODE = "city = 'Oslo'\nfound = await orders(city)\nsum(each for each in found if each > 5)"


@pytest.fixture(scope="module", autouse=True)
def sandboxed() -> None:
    tiers = probe()
    if not any(tier.works for tier in tiers):
        pytest.skip("; ".join(f"{tier.name}: {tier.reason}" for tier in tiers))


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    (tmp_path / "tools.py").write_text(TOOLS)
    return tmp_path / "tools.py"


@pytest.fixture
def recorded(wieldy: Wieldy, tools: Path, tmp_path: Path) -> Path:
    """A journal with one run of the code."""
    (tmp_path / "code.py").write_text(CODE)
    journal = tmp_path / "runs.db"
    done = wieldy("exec", tmp_path / "code.py", "--tools", tools, "--journal", journal)
    assert done.returncode == 0, done.stderr
    return journal


SAVE = ("--name", "large_sum", "--description", "The sum of the larger orders.", "--parameter", "city=Oslo")


def saved(wieldy: Wieldy, journal: Path, *more: str | Path, check: str = "result > 0") -> Any:
    return wieldy("skills", "save", "last", *SAVE, "--check", check, "--journal", journal, "--json", *more)


def told(done: subprocess.CompletedProcess[str], *, code: int = 0) -> dict[str, Any]:
    assert done.returncode == code, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_what_was_recorded_is_saved_listed_shown_checked_and_removed(
    wieldy: Wieldy, recorded: Path, tools: Path
) -> None:
    first = told(saved(wieldy, recorded, "--parameter", "least=5"))
    assert (first["name"], first["version"], first["description"]) == ("large_sum", 1, "The sum of the larger orders.")
    assert first["example"]["arguments"] == {"city": "Oslo", "least": 5}
    assert first["source"].startswith("async def large_sum(city: str, least: int) -> int:")
    assert [each["name"] for each in first["tools"]] == ["orders"]
    assert told(saved(wieldy, recorded))["version"] == 2
    listed = told(wieldy("skills", "list", "--tools", tools, "--json"))
    [line] = listed["skills"]
    assert Path(listed["folder"]).name == "skills"
    assert (line["version"], line["versions"], line["offered"], line["reason"]) == (2, [1, 2], True, None)
    assert told(wieldy("skills", "show", "large_sum@1", "--json")) == first
    assert told(wieldy("skills", "check", "--json")) == {
        "ok": True,
        "skills": [{"skill": "large_sum@2", "ok": True, "reason": None}],
        "damaged": [],
    }
    assert told(wieldy("skills", "remove", "large_sum@2", "--json")) == {"name": "large_sum", "removed": [2]}
    assert told(wieldy("skills", "remove", "large_sum", "--all", "--json"))["removed"] == [1]
    assert told(wieldy("skills", "list", "--json"))["skills"] == []


def test_people_read_it_as_well(wieldy: Wieldy, recorded: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    done = wieldy("skills", "save", "last", *SAVE, "--check", "result == 17", "--journal", recorded, "--skills", folder)
    assert done.returncode == 0, done.stderr
    for words in ("large_sum@1", "async def large_sum(city: str)", 'example: large_sum(city="Oslo") is 17', "check:"):
        assert words in done.stdout
    assert wieldy("skills", "show", "large_sum", "--skills", folder).stdout == done.stdout
    assert "The sum of the larger orders." in wieldy("skills", "list", "--skills", folder).stdout
    assert wieldy("skills", "check", "--skills", folder).stdout == "large_sum@1: holds\n"
    assert "There is no skill in" in wieldy("skills", "list").stdout
    assert wieldy("skills", "remove", "large_sum@1", "--skills", folder).stdout == "Removed large_sum@1.\n"


def test_what_does_not_hold_is_refused_with_what_differs(wieldy: Wieldy, recorded: Path, tmp_path: Path) -> None:
    failure = told(saved(wieldy, recorded, check="result > 100"), code=1)
    assert "does not hold for 17" in failure["message"]
    for more, check, words in (
        ((), "1 > 0", "does not look at `result`"),
        (("--parameter", "town=Bergen"), "result", "to stand in the code"),
        (("--parameter", "town"), "result", "NAME=VALUE"),
        (("--function", tmp_path / "code.py"), "result", "leave --name and --description out"),
    ):
        failure = told(saved(wieldy, recorded, *more, check=check), code=2)
        assert failure["type"] == "error"
        assert words in failure["message"]
    (tmp_path / "function.py").write_text(
        'async def total(city: str) -> int:\n    """Sums up."""\n    return sum(await orders(city))\n'
    )
    given = ("--function", tmp_path / "function.py", "--parameter", "city=Oslo", "--check", "result")
    done = wieldy("skills", "save", "last", *given, "--journal", recorded)
    assert done.returncode == 1
    assert "brought 17, and the function returns 21" in done.stderr.replace("\n", " ")
    assert told(wieldy("skills", "list", "--json"))["skills"] == []


def test_the_code_that_runs_is_shown_to_the_last_character(wieldy: Wieldy, recorded: Path, tmp_path: Path) -> None:
    (tmp_path / "function.py").write_text(
        'async def hides(city: str) -> int:\n    """Hides."""\n'
        "    word = 'a\x1b[31mb\u200bc\u202ed'\n    return 17 + 0 * len(await orders(city))\n",
        encoding="utf-8",
    )
    given = ("--function", tmp_path / "function.py", "--parameter", "city=Oslo", "--check", "result == 17")
    done = wieldy("skills", "save", "last", *given, "--journal", recorded)
    assert done.returncode == 0, done.stderr
    assert "    word = 'a\\x1b[31mb\\u200bc\\u202ed'\n" in done.stdout
    assert wieldy("skills", "show", "hides").stdout == done.stdout


@pytest.mark.parametrize("name", ["nothing@1", "../x", "a@b"])
def test_a_skill_that_is_not_there_is_an_error_in_words(wieldy: Wieldy, name: str) -> None:
    for command in ("show", "check"):
        done = wieldy("skills", command, name)
        assert (done.returncode, done.stdout) == (2, "")
        assert "Traceback" not in done.stderr
    assert wieldy("skills", "remove", name, *([] if "@" in name else ["--all"])).returncode == 2
    assert wieldy("skills", "remove", "large_sum").returncode == 2


def test_a_damaged_file_and_another_tool_are_told_of(
    wieldy: Wieldy, recorded: Path, tools: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "mine"
    told(saved(wieldy, recorded, "--skills", folder))
    (folder / "other.1.json").write_text("{}")
    listed = told(wieldy("skills", "list", "--skills", folder, "--json"))
    assert [Path(each["file"]).name for each in listed["damaged"]] == ["other.1.json"]
    assert [each["offered"] for each in listed["skills"]] == [None]
    checked = told(wieldy("skills", "check", "--skills", folder, "--json"), code=1)
    assert (checked["ok"], checked["skills"][0]["ok"]) == (False, True)
    (folder / "other.1.json").unlink()
    tools.write_text(TOOLS.replace("The sums", "All sums"))
    [line] = told(wieldy("skills", "list", "--skills", folder, "--tools", tools, "--json"))["skills"]
    assert (line["offered"], line["reason"]) == (
        False,
        "`orders` is defined otherwise than when it was saved; save it again",
    )
    assert told(wieldy("skills", "check", "--skills", folder, "--tools", tools, "--json"), code=1)["ok"] is False


def test_a_run_is_offered_skills_and_told_why_not(
    wieldy: Wieldy, serve: Callable[..., Any], recorded: Path, tools: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "mine"
    told(saved(wieldy, recorded, "--skills", folder))
    server = serve([[("large_sum", {"city": "Trondheim"})], "26"])
    journal = tmp_path / "new.db"
    done = wieldy(
        "run", "Go", "--model", server.model, "--tools", tools, "--skills", folder, "--journal", journal, "--json"
    )
    assert done.returncode == 0, done.stderr
    offered = [each["function"]["name"] for each in server.requests[0]["tools"]]
    assert offered == ["orders", "large_sum"]
    assert server.requests[1]["messages"][-1]["content"] == "26"
    tools.write_text(TOOLS.replace("The sums", "All sums"))
    other = serve(["Nothing."])
    done = wieldy("run", "Go", "--model", other.model, "--tools", tools, "--skills", folder, "--journal", journal)
    assert done.returncode == 0, done.stderr
    assert "The skill large_sum@1 is not offered: `orders` is defined otherwise" in done.stderr
    assert [each["function"]["name"] for each in other.requests[0]["tools"]] == ["orders"]


def test_a_run_with_skills_is_resumed_with_them(
    wieldy: Wieldy, serve: Callable[..., Any], recorded: Path, tools: Path, tmp_path: Path
) -> None:
    folder, journal = tmp_path / "mine", tmp_path / "new.db"
    told(saved(wieldy, recorded, "--skills", folder))
    tools.write_text(TOOLS.replace("    print", "    open('asked', 'a').write('x')\n    print"))
    server = serve([[("large_sum", {"city": "Trondheim"})], 401, "26"])
    run = ("run", "Go", "--model", server.model, "--tools", tools, "--skills", "mine", "--journal", journal)
    assert wieldy(*run).returncode == 1
    done = wieldy("resume", "last", "--journal", journal)
    assert done.returncode == 0, done.stderr
    assert "26" in done.stdout
    assert "does not hold" not in done.stderr
    assert "large_sum" in [each["function"]["name"] for each in server.requests[-1]["tools"]]
    assert (tmp_path / "asked").read_text() == "x"


def test_what_a_model_did_by_code_is_saved_by_its_call(
    wieldy: Wieldy, serve: Callable[..., Any], tools: Path, tmp_path: Path
) -> None:
    server = serve([[("python", {"code": "1 + 1"})], [("python", {"code": CODE})], "It is 17."])
    journal = tmp_path / "runs.db"
    run = ("run", "Go", "--model", server.model, "--tools", tools, "--actions", "code", "--journal", journal)
    assert wieldy(*run).returncode == 0
    unclear = told(saved(wieldy, journal), code=2)
    assert "Expected a call that ran code" in unclear["message"]
    call = unclear["message"].rpartition(", ")[2].rstrip(".")
    save = ("skills", "save", "last", call, *SAVE, "--check", "result == 17", "--journal", journal, "--json")
    skill = told(wieldy(*save))
    assert skill["origin"].endswith(f" {call}")
    assert [each["name"] for each in skill["example"]["calls"]] == ["orders"]
