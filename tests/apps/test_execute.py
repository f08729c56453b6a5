"""`wieldy exec`, `wieldy sandbox probe` and `wieldy run --actions code`, each as a process of its own."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wieldy.sandbox import probe
from wieldy.sandbox.tiers import TIERS

Wieldy = Callable[..., subprocess.CompletedProcess[str]]

TOOLS = '''
import wieldy

@wieldy.tool(effect="read")
def price(item: str) -> float:
    """The price of an item."""
    print("this is the tool's own")
    return len(item) * 1.5

@wieldy.tool(effect="unsafe")
def buy(item: str) -> str:
    """Buys an item."""
    return f"bought {item}"
'''


@pytest.fixture(scope="module", autouse=True)
def sandboxed() -> None:
    tiers = probe()
    if not any(tier.works for tier in tiers):
        pytest.skip("; ".join(f"{tier.name}: {tier.reason}" for tier in tiers))


@pytest.fixture
def code(tmp_path: Path) -> Callable[[str], str]:
    def write(text: str) -> str:
        (tmp_path / "tools.py").write_text(TOOLS)
        (tmp_path / "code.py").write_text(text)
        return str(tmp_path / "code.py")

    return write


def test_code_is_run_with_tools_and_told_as_one_object(
    wieldy: Wieldy, code: Callable[[str], str], tmp_path: Path
) -> None:
    file = code("print('hello')\nopen('a.txt', 'w').write('written')\nawait asyncio.gather(price('a'), price('bb'))")
    result = wieldy("exec", file, "--tools", tmp_path / "tools.py", "--json")
    assert result.returncode == 0, result.stderr
    told: dict[str, Any] = json.loads(result.stdout)
    [file] = told.pop("artifacts")
    assert base64.b64decode(file["data"]) == b"written"
    assert (file["name"], file["media_type"], file["size_bytes"]) == ("a.txt", "text/plain", 7)
    assert told == {
        "status": "done",
        "value": [1.5, 3.0],
        "value_repr": None,
        "stdout": "hello\n",
        "stderr": "",
        "error": None,
        "line": None,
        "remarks": [],
        "killed_because": None,
        "calls": 2,
        "run_id": None,
    }


def test_a_run_has_an_id_where_it_is_recorded(wieldy: Wieldy, code: Callable[[str], str], tmp_path: Path) -> None:
    told = json.loads(wieldy("exec", code("1 + 1"), "--journal", tmp_path / "runs.db", "--json").stdout)
    shown = wieldy("show", told["run_id"], "--journal", tmp_path / "runs.db")
    assert shown.returncode == 0, shown.stderr


def test_a_machine_that_cannot_do_it_is_no_wrong_usage(wieldy: Wieldy, code: Callable[[str], str]) -> None:
    done = wieldy("exec", code("1"), "--package", "no_such_package_anywhere", "--json")
    assert (done.returncode, json.loads(done.stdout)["error"]) == (1, "SandboxTierError")


def test_what_is_not_there_is_told(wieldy: Wieldy, code: Callable[[str], str]) -> None:
    file = code("print('x' * 3_000_000)\nopen('a\\nb', 'w').write('1')\n'all fine'")
    cut = "Of 3,000,001 bytes on standard output the first 262,144 are kept."
    told = json.loads(wieldy("exec", file, "--json").stdout)
    assert (told["status"], told["value"], len(told["stdout"])) == ("done", "all fine", 262_144)
    assert len(told["remarks"]) == 2
    assert told["remarks"][1] == cut
    shown = wieldy("exec", file)
    assert shown.returncode == 0
    assert cut in " ".join(shown.stderr.split())
    assert 'The file "a\\nb" is left out' in shown.stderr


def test_what_changes_something_is_not_run_where_nobody_can_consent(
    wieldy: Wieldy, code: Callable[[str], str], tmp_path: Path
) -> None:
    file = code("try:\n    got = await buy('a')\nexcept ToolError as error:\n    got = error.kind\ngot")
    refused = wieldy("exec", file, "--tools", tmp_path / "tools.py")
    assert (refused.returncode, refused.stdout) == (0, "denied\n")
    assert "--yes" in refused.stderr
    allowed = wieldy("exec", file, "--tools", tmp_path / "tools.py", "--yes")
    assert (allowed.returncode, allowed.stdout) == (0, "bought a\n")


def test_an_error_and_an_end_by_force_are_told(wieldy: Wieldy, code: Callable[[str], str]) -> None:
    result = wieldy("exec", code("x = 1\nx / 0"))
    assert (result.returncode, result.stdout) == (1, "")
    assert "line 2" in result.stderr
    assert "ZeroDivisionError" in result.stderr
    told = json.loads(wieldy("exec", code("bytearray(1 << 30)"), "--json").stdout)
    assert (told["status"], told["killed_because"]) in {("error", None), ("killed", "memory")}


def test_what_cannot_be_run_is_wrong_usage(wieldy: Wieldy, code: Callable[[str], str], tmp_path: Path) -> None:
    assert wieldy("exec", tmp_path / "nowhere.py").returncode == 2
    moon = wieldy("exec", code("1"), "--tier", "moon", "--json")
    assert moon.returncode == 2
    assert "jail-ns" in json.loads(moon.stdout)["message"]


def test_the_ways_of_isolating_code_are_tried(wieldy: Wieldy) -> None:
    result = wieldy("sandbox", "probe", "--json")
    told = json.loads(result.stdout)
    assert (result.returncode, told["ok"]) == (0, True)
    assert [tier["name"] for tier in told["tiers"]] == list(TIERS)
    assert all(tier["works"] or tier["reason"] for tier in told["tiers"])
    shown = wieldy("sandbox", "probe")
    assert shown.returncode == 0
    assert "jail: " in shown.stdout


def test_a_model_may_act_by_code(
    wieldy: Wieldy, serve: Callable[..., Any], code: Callable[[str], str], tmp_path: Path
) -> None:
    code("")
    server = serve([[("python", {"code": "await price('abc')"})], "It costs 4.5."])
    result = wieldy(
        "run", "What is it?", "--model", server.model, "--tools", tmp_path / "tools.py", "--actions", "code", "--json"
    )
    assert result.returncode == 0, result.stderr
    events = [json.loads(line) for line in result.stdout.splitlines()]
    [outcome] = [event for event in events if event["type"] == "result"]
    assert (outcome["name"], outcome["content"], outcome["structured_content"]) == ("python", "value: 4.5", 4.5)
    assert events[-1]["text"] == "It costs 4.5."
    again = wieldy("resume", events[-1]["run_id"], "--json")
    assert json.loads(again.stdout.splitlines()[-1])["text"] == "It costs 4.5."


def test_a_call_in_the_middle_of_code_is_approved_later_and_the_run_goes_on(
    wieldy: Wieldy, serve: Callable[..., Any], code: Callable[[str], str], tmp_path: Path
) -> None:
    code("")
    written = "paid = await price('abc')\n[paid, await buy('abc')]"
    server = serve([[("python", {"code": written})], "It is bought."])
    how = ("--model", server.model, "--tools", tmp_path / "tools.py", "--actions", "code", "--pause", "--json")
    rests = json.loads(wieldy("run", "Buy it.", *how).stdout.splitlines()[-1])
    assert rests["stop_reason"] == "waiting_for_approval"
    [request] = rests["waiting"]
    assert (request["name"], request["arguments"]) == ("buy", {"item": "abc"})
    assert wieldy("approve", request["run_id"], request["call_id"]).returncode == 0
    events = [json.loads(line) for line in wieldy("resume", rests["run_id"], "--json").stdout.splitlines()]
    [outcome] = [event for event in events if event["type"] == "result"]
    assert outcome["structured_content"] == [4.5, "bought abc"]
    assert events[-1]["text"] == "It is bought."
