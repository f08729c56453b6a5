"""Tasks of one's own: the templates, what files may hold, and verdicts of runs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import anyio
import pytest

from wieldy import ToolError, UsageError, tool
from wieldy.core.errors import ProviderError
from wieldy.core.ports import Model
from wieldy.evals.cases.case import Attempt
from wieldy.evals.studies.running import ORACLE, Study, run_study
from wieldy.evals.tasks.datasets import suite_from
from wieldy.evals.tasks.judging import verdict_of
from wieldy.evals.tasks.task import ExpectedCall, Outcome, Task
from wieldy.evals.tasks.task_cases import case_of
from wieldy.evals.tasks.template import PYTHON_TEMPLATE, template_lines
from wieldy.evals.verdicts.verdict import Verdict, invalid_task
from wieldy.run.journal import MemoryJournal
from wieldy.run.policy import Ask, Deny, Policy, allow_all
from wieldy.testing import ScriptedModel, call, text


@tool(effect="read")
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@tool(effect="read")
def crash(a: int) -> int:
    """Fail."""
    raise KeyError(a)


@tool(effect="read")
def refuse(a: int) -> int:
    """Say no."""
    raise ToolError(f"There is no {a}.")


TOOLS = (add, crash, refuse)


def wants(name: str = "add", **arguments: int) -> ExpectedCall:
    return ExpectedCall(name=name, arguments=arguments)


async def judged(task: Task, model: Model, policy: Policy = allow_all) -> Verdict:
    journal = MemoryJournal()
    (run_id,) = await case_of(task).run(Attempt(model=model, journal=journal, policy=policy, metadata={}))
    return verdict_of(task, journal.read(run_id))


def adding(*calls: ExpectedCall, **more: object) -> Task:
    return Task(id="t", prompt="Add.", tools=TOOLS, calls=calls, **more)  # type: ignore[arg-type]


def saying(*turns: list[object]) -> ScriptedModel:
    return ScriptedModel(turns)  # type: ignore[arg-type]


DONE = [text("The sum is 3.")]
ADD = '{"name": "add", "arguments": {"a": 1}}'


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("task", "turns", "kind", "code"),
    [
        (adding(wants(a=1, b=2)), [[call("add", {"a": 1, "b": 2})], DONE], "pass", ""),
        (adding(wants(a=1, b=2), answer=("the SUM  is",)), [[call("add", {"a": 1, "b": 2})], DONE], "pass", ""),
        (adding(wants(a=1, b=2), answer=("4",)), [[call("add", {"a": 1, "b": 2})], DONE], "fail", "wrong-answer"),
        (adding(wants(a=1)), [[call("add", {"a": 1, "b": 1})], DONE], "pass", ""),
        (adding(wants(a=1)), [[call("add", {"a": 1, "b": 2})], DONE], "fail", "wrong-value"),
        (adding(wants(a=1)), [[call("add", {"a": 1}), call("add", {"a": 2})], DONE], "fail", "extra-call"),
        (adding(wants(a=1), extra_calls=True), [[call("add", {"a": 2}), call("add", {"a": 1})], DONE], "pass", ""),
        (adding(wants(a=1), wants(a=2)), [[call("add", {"a": 2}), call("add", {"a": 1})], DONE], "pass", ""),
        (
            adding(wants(a=1), wants(a=2), order="as listed"),
            [[call("add", {"a": 2}), call("add", {"a": 1})], DONE],
            "fail",
            "wrong-order",
        ),
        (adding(wants(a=1), wants(a=2)), [[call("add", {"a": 1})], DONE], "fail", "missing-call"),
        (adding(wants(a=1), wants(a=1)), [[call("add", {"a": 1}), call("add", {"a": 2})], DONE], "fail", "wrong-value"),
        (
            adding(wants(a=1), wants(a=1), order="as listed"),
            [[call("add", {"a": 1}), call("add", {"a": 2})], DONE],
            "fail",
            "wrong-value",
        ),
        (
            adding(wants(a=1), wants(a=1)),
            [[call("add", {"a": 1}), call("refuse", {"a": 1})], DONE],
            "fail",
            "wrong-tool",
        ),
        (adding(wants("refuse", a=1)), [[call("add", {"a": 1})], DONE], "fail", "wrong-tool"),
        (adding(wants(a=1)), [DONE], "abstain", "no-call"),
        (adding(wants(a=1)), [[text("")]], "fail", "empty-answer"),
        (adding(wants(a=1)), [[text("HTTP 500")]], "unscored", "error-text"),
        (adding(wants(a=1)), [[text('{"name": "add", "arguments": {')]], "fail", "malformed-call"),
        (adding(wants(a=1)), [[text(f"<tool_call>{ADD}</tool_call>")]], "unscored", "parse"),
        (adding(wants(a=1)), [[text(f"I add.\n<tool_call>\n{ADD}\n</tool_call>")]], "unscored", "parse"),
        (adding(wants(a=1)), [[text(f"[TOOL_CALLS][{ADD}]")]], "unscored", "parse"),
        (adding(wants(a=1)), [[text(f"<tool_call>{ADD[:-2]}")]], "fail", "malformed-call"),
        (adding(wants(a=1)), [[text(f"<tool_call>{ADD.replace('1', '[]')}</tool_call>")]], "fail", "malformed-call"),
        (adding(wants(a=1)), [[text(ADD)]], "fail", "malformed-call"),
        (adding(), [[text(f"<tool_call>{ADD}</tool_call>")]], "fail", "malformed-call"),
        (adding(wants(a=1)), [[call("ad", {"a": 1})], DONE], "fail", "unknown-tool"),
        (adding(wants(a=1)), [[call("add", {"a": "x"})], [call("add", {"a": 1})], DONE], "pass", ""),
        (adding(), [DONE], "pass", ""),
        (adding(), [[call("add", {"a": 1})], DONE], "fail", "extra-call"),
        (adding(), [[text("")]], "fail", "empty-answer"),
        (adding(), [[text('{"name": "add", "arguments": {')]], "fail", "malformed-call"),
        (adding(), [[text("Error code: 503")]], "unscored", "error-text"),
        (adding(answer=("4",)), [[text("4")]], "pass", ""),
        (adding(answer=("503",)), [[text("Error code: 503")]], "pass", ""),
        (adding(answer=("Oslo",)), [[text('{"city": "Oslo"}')]], "pass", ""),
        (adding(), [[text("Connection refused means that nothing listens on that port.")]], "pass", ""),
        (adding(answer=("1",)), [[text("[add(a=1")]], "fail", "malformed-call"),
        (Task(id="t", prompt="?", answer=("40",)), [[text("140")]], "fail", "wrong-answer"),
        (Task(id="t", prompt="?", answer=("5",)), [[text("sqrt(16) is 4.")]], "fail", "wrong-answer"),
        (Task(id="t", prompt="?", answer=("5",)), [[text("Rate limits protect servers.")]], "fail", "wrong-answer"),
        (adding(wants("crash", a=1), answer=("7",)), [[call("crash", {"a": 1})], DONE], "unscored", "tool-failed"),
        (
            adding(wants("crash", a=1), answer=("7",), tool_errors=True),
            [[call("crash", {"a": 1})], DONE],
            "fail",
            "wrong-answer",
        ),
        (adding(wants("refuse", a=1), answer=("7",)), [[call("refuse", {"a": 1})], DONE], "fail", "wrong-answer"),
    ],
)
async def test_verdicts(task: Task, turns: list[list[object]], kind: str, code: str) -> None:
    verdict = await judged(task, saying(*turns))
    assert (verdict.kind, verdict.code) == (kind, code)
    assert kind == "pass" or verdict.evidence


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("wanted", "said", "kind"),
    [
        ("40", "It is 40.", "pass"),
        ("40", "It is 40.00 euros", "pass"),
        ("40", "€40", "pass"),
        ("40", "It is 140.", "fail"),
        ("40", "It is 40.5", "fail"),
        ("40", "It is 3.40", "fail"),
        ("40", "It is 400", "fail"),
        ("40", "It is 40,000", "fail"),
        ("40", "It is 40, 50 at most", "pass"),
        ("2.5", "exactly 2.50", "pass"),
        ("2.5", "exactly 2.51", "fail"),
        ("in stock", "It is In  Stock", "pass"),
        ("order 7", "order 70", "fail"),
        ("40", "-40", "fail"),
        ("40", "It is -40 euros", "fail"),
        ("40", "x = -40", "fail"),
        ("40", "(\u221240)", "fail"),
        ("40", "**-40**", "fail"),
        ("40", "from 20-40", "pass"),
        ("40", "from 20 - 40", "pass"),
        ("40", "order-40", "pass"),
        ("40", "It costs:\n- 40 euros", "pass"),
        ("40", "There you are.\n- 40 euros", "pass"),
        ("40", "- 40 euros", "pass"),
        ("40", "-40, no: 40", "pass"),
        ("-40", "It is -40.", "pass"),
        ("-40", "It is 40.", "fail"),
        ("a+b", "a + b", "pass"),
    ],
)
async def test_what_an_answer_must_contain(wanted: str, said: str, kind: str) -> None:
    task = Task(id="t", prompt="How much?", answer=(wanted,))
    assert (await judged(task, saying([text(said)]))).kind == kind


@pytest.mark.anyio
async def test_what_others_did_is_not_put_down_to_the_model() -> None:
    def deny(_: object) -> Deny:
        return Deny(reason="no")

    verdict = await judged(adding(wants(a=1)), saying([call("add", {"a": 1})], DONE), deny)
    assert (verdict.kind, verdict.layer) == ("unscored", "policy")

    def down(messages: object) -> list[object]:
        raise ProviderError("HTTP 500")

    for task in (adding(wants(a=1)), adding(), adding(check=lambda _: True)):
        verdict = await judged(task, ScriptedModel(down))  # type: ignore[arg-type]
        assert (verdict.kind, verdict.layer, verdict.code) == ("unscored", "provider", "protocol")

    def ask(_: object) -> Ask:
        return Ask(reason="who knows")

    verdict = await judged(adding(wants(a=1)), saying([call("add", {"a": 1})]), ask)
    assert (verdict.kind, verdict.layer, verdict.code) == ("unscored", "policy", "waiting")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("said", "kind", "code"),
    [
        (True, "pass", ""),
        (None, "pass", ""),
        (False, "fail", "check"),
        ("it is blue", "fail", "check"),
        (invalid_task("moved"), "invalid-task", "moved"),
        ("it is \ud800", "fail", "check"),
        (KeyError("x"), "unscored", "check-failed"),
        (KeyError("\ud800"), "unscored", "check-failed"),
        (SystemExit(0), "unscored", "check-failed"),
        (pytest.fail.Exception("no"), "unscored", "check-failed"),
        (1, "unscored", "check-failed"),
        (0, "unscored", "check-failed"),
        ([], "unscored", "check-failed"),
        ("", "unscored", "check-failed"),
        (re.search("3", "3"), "unscored", "check-failed"),
    ],
)
async def test_a_check_of_ones_own_decides(said: object, kind: str, code: str) -> None:
    seen = list[Outcome]()

    def check(outcome: Outcome) -> Verdict | bool | str | None:
        seen.append(outcome)
        if isinstance(said, BaseException):
            raise said
        return said  # type: ignore[return-value]

    verdict = await judged(adding(wants(a=1), check=check), saying([call("add", {"a": 1})], DONE))
    assert (verdict.kind, verdict.code) == (kind, code)
    (outcome,) = seen
    assert outcome.text == "The sum is 3."
    assert [(made.name, made.content, made.is_error) for made in outcome.calls] == [("add", "2", False)]
    assert kind != "unscored" or verdict.layer == "task"
    assert kind in ("pass", "invalid-task") or verdict.evidence


def test_what_would_silently_count_for_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match=r"'a' in `arguments` or in `alternatives`, found both"):
        ExpectedCall(name="add", arguments={"a": 1}, alternatives={"a": [2]})
    for blank in ("", " \n"):
        with pytest.raises(UsageError, match="a criterion in `judge`"):
            adding(judge=blank)


def test_a_task_that_can_only_be_passed_is_refused() -> None:
    with pytest.raises(UsageError, match="can only be passed"):
        Task(id="t", prompt="Hello")


@pytest.fixture
def templates(tmp_path: Path) -> list[Path]:
    lines, python = tmp_path / "tasks.jsonl", tmp_path / "tasks.py"
    lines.write_text("".join(f"{line}\n" for line in template_lines()))
    python.write_text(PYTHON_TEMPLATE)
    return [lines, python]


def test_an_oracle_passes_the_templates(templates: list[Path], tmp_path: Path) -> None:
    for path in templates:
        study = Study(suite=suite_from(path), models=(ORACLE,), folder=tmp_path / path.suffix[1:], jobs=2)
        trials = anyio.run(run_study, study, lambda _: None)
        assert {trial.verdict for trial in trials} == {Verdict(kind="pass")}
        assert {trial.category for trial in trials} == {"no call", "one call", "parallel", "chain", "tool error"}


@pytest.mark.anyio
async def test_whoever_only_talks_passes_only_what_wants_no_call(templates: list[Path]) -> None:
    for path in templates:
        for case in suite_from(path).cases:
            journal = MemoryJournal()
            model = ScriptedModel(lambda _: [text("unknown, shipped, 40, 30, 120, warehouse, cancelled, 180")])
            ids = await case.run(Attempt(model=model, journal=journal, metadata={}))
            verdict = case.judge([journal.read(run_id) for run_id in ids]).verdict
            assert verdict.kind == ("pass" if case.category == "no call" else "abstain")


def test_a_limit_takes_as_many_of_each_kind_and_a_changed_task_is_another_one(templates: list[Path]) -> None:
    lines = templates[0]
    kinds = [case.category for case in suite_from(lines, limit=1).cases]
    assert kinds == ["no call", "one call", "parallel", "chain", "tool error"]
    before = {case.id: case.digest for case in suite_from(lines).cases}
    content = lines.read_text()
    lines.write_text(content.replace('"order": "as listed"', '"order": "any"'))
    changed = {case.id for case in suite_from(lines).cases if case.digest != before[case.id]}
    assert changed == {"dozen-pens", "three-lamps"}
    lines.write_text(content.replace("in the warehouse", "in the warehouse\u2028now"))
    assert all(case.digest != before[case.id] for case in suite_from(lines).cases)


TOOL = {"tool": {"name": "f", "results": [{"arguments": {}, "result": 1}]}}


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], "at least one task"),
        (["{"], ":1: expected a tool or a task"),
        ([{"id": "a", "prompt": "x", "call": []}], "'call' is no part of a task"),
        ([{"id": "a", "prompt": "x", "calls": [], "tools": ["g"]}], "no line above defines the tool 'g'"),
        ([{"id": "a", "prompt": "x"}], "can only be passed"),
        ([{"prompt": "x", "calls": []}], "expected `id`, found none"),
        ([{"id": "a", "prompt": 1, "calls": []}], "Expected messages"),
        ([{"id": "a", "prompt": "x", "calls": []}] * 2, "'a' twice"),
        ([{"tool": {"name": "not a name"}}], "expected a name"),
        ([TOOL, {"id": "a", "prompt": "x", "calls": [{}]}], "expected `name`, found none"),
        (["[1]"], "expected a tool or a task"),
    ],
)
def test_a_file_that_holds_something_else_is_refused_with_the_place(
    lines: list[object], words: str, tmp_path: Path
) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    with pytest.raises(UsageError, match=words):
        suite_from(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [("x = 1", "expected a list of"), ("TASKS = [1]", "expected a list of"), ("raise ValueError('no')", "no")],
)
def test_a_python_file_that_holds_something_else_is_refused(content: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "tasks.py"
    path.write_text(content)
    with pytest.raises(UsageError, match=words):
        suite_from(path)


def test_files_that_are_not_there_are_told_of(tmp_path: Path) -> None:
    for name in ("none.jsonl", "none.py"):
        with pytest.raises(UsageError, match=r"none\."):
            suite_from(tmp_path / name)
