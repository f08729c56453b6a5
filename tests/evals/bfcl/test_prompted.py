"""Calls in the text of models that are prompted: prompts, reading, verdicts, and the spread over the forms."""

from __future__ import annotations

import hashlib
import json
import math
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from bfcl_examples import function
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from wieldy.core.errors import UsageError
from wieldy.core.ports import Model
from wieldy.evals.bfcl import prompts
from wieldy.evals.bfcl.board import board_rows
from wieldy.evals.bfcl.categories import FORMAT_SENSITIVITY, categories_named
from wieldy.evals.bfcl.data import BfclData
from wieldy.evals.bfcl.decoding import DecodingError
from wieldy.evals.bfcl.prompted.cases import oracle, prompted_case
from wieldy.evals.bfcl.prompted.data import PromptedTask, prompted_tasks
from wieldy.evals.bfcl.prompted.forms import FORMS, Form
from wieldy.evals.bfcl.prompted.functions import described
from wieldy.evals.bfcl.prompted.reading import read, read_strictly
from wieldy.evals.bfcl.prompted.writing import write
from wieldy.evals.bfcl.suite import bfcl_suite
from wieldy.evals.cases.case import Attempt, Judged
from wieldy.evals.reports.report_lines import report_lines
from wieldy.evals.studies.running import ORACLE, Study, run_study
from wieldy.run.journal import MemoryJournal
from wieldy.testing import ScriptedModel, text

_WORDS = """
OUTPUT_FORMAT_MAPPING = {"python": "[f(a=1)]", "json": "[{}]", "verbose_xml": "<v/>", "concise_xml": "<c/>"}
PARAM_TYPE_MAPPING = {"python": "", "json": "", "verbose_xml": "Types.", "concise_xml": "Types."}
_STYLE = "not used"
PROMPT_STYLE_TEMPLATES = {
    "classic": {
        "persona": "You call.", "task": "Call.", "multiturn_behavior": "Go on.",
        "tool_call_no_tag": "Write {output_format}. {param_types}",
        "tool_call_with_tag": "Write <TOOLCALL>{output_format}</TOOLCALL>. {param_types}",
        "available_tools": "In {format}:\\n{functions}\\n",
    },
    "experimental": {
        "persona": "Caller.", "task": "Do.", "multiturn_behavior": "On.",
        "tool_call_no_tag": "{output_format}{param_types}", "tool_call_with_tag": "",
        "available_tools": "{format}: {functions}",
    },
}
_PLAINTEXT_SYSTEM_PROMPT_TEMPLATE = ("{persona}{task}|{tool_call_format}|{multiturn_behavior}|{available_tools}")
_MARKDOWN_SYSTEM_PROMPT_TEMPLATE = "# {persona}{task}|{tool_call_format}|{multiturn_behavior}|{available_tools}"
"""
_UTILS = """
def _get_language_specific_hint(test_category):
    if test_category == "java":
        return " Java."
    else:
        return " In Python, please."
"""
_FUNCTION = function("book.room", {"city": {"type": "string", "description": "Where."}, "nights": {"type": "integer"}})
_ROWS = [
    {"id": f"simple_python_{at}", "question": [[{"role": "user", "content": "Book."}]], "function": [_FUNCTION]}
    for at in range(3)
]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of data in a package of ours, whose words are the pinned ones for this test."""
    package = tmp_path / "bfcl_eval"
    folder = package / "data"
    (folder / "possible_answer").mkdir(parents=True)
    (package / "constants").mkdir()
    for name, source in ((prompts.PROMPTS, _WORDS), (prompts.TASKS, _UTILS)):
        (package / name).write_text(source, encoding="utf-8")
        monkeypatch.setitem(prompts.PINNED, name, hashlib.sha256(source.encode()).hexdigest())
    (folder / "BFCL_v4_format_sensitivity.json").write_text(
        json.dumps({"simple_python": ["simple_python_2", "simple_python_0"], "parallel": []}, indent=1)
    )
    (folder / "BFCL_v4_simple_python.json").write_text("".join(json.dumps(row) + "\n" for row in _ROWS))
    answer = {"book.room": {"city": ["Rome, <Italy>"], "nights": [2]}}
    (folder / "possible_answer" / "BFCL_v4_simple_python.json").write_text(
        "".join(json.dumps({"id": row["id"], "ground_truth": [answer]}) + "\n" for row in _ROWS)
    )
    return folder


def tasks_in(data: Path) -> tuple[PromptedTask, ...]:
    return prompted_tasks(BfclData(data), FORMAT_SENSITIVITY)


async def judged(task: PromptedTask, model: Model) -> Judged:
    case, journal = prompted_case(task), MemoryJournal()
    ids = await case.run(Attempt(model=model, journal=journal, metadata={}))
    return case.judge([journal.read(run_id) for run_id in ids])


def test_every_task_is_there_in_every_form_and_its_prompt_says_all(data: Path) -> None:
    tasks = tasks_in(data)
    assert len(FORMS) == len(set(FORMS)) == 26
    assert [task.task.id for task in tasks] == ["simple_python_0"] * 26 + ["simple_python_2"] * 26
    assert tasks[27].id == (
        "format_sensitivity_27:ret_fmt=python&tool_call_tag=True&func_doc_fmt=xml&prompt_fmt=plaintext&style=classic"
        ":simple_python_2"
    )
    (role, told), user = tasks[27].messages
    assert (role, user) == ("system", ("user", "Book."))
    assert told.startswith("You call.Call.|Write <TOOLCALL>[f(a=1)]</TOOLCALL>. |Go on.|In xml:\n<function name=")
    assert "Do book.room. In Python, please. In Python, please." in told
    assert tasks[24].messages[0][1].startswith("# You call.")
    assert len(prompted_tasks(BfclData(data), FORMAT_SENSITIVITY, limit=1)) == 26


def test_functions_are_described_in_three_forms() -> None:
    detail: dict[str, Any] = {
        "a": {"type": "array", "items": {"type": "float"}, "description": "Some."},
        "o": {
            "type": "dict",
            "description": "One.",
            "properties": {"x": {"type": "integer", "description": "X, of o.", "default": 1}},
        },
        "e": {"type": "string", "enum": ["p", "q"], "description": "Which."},
    }
    one = function("f", detail, ["a"])
    assert json.loads(described([one], "json")) == [one]
    assert described([one], "python") == (
        '# Function: f\n    """\n    Do f.\n\n    Args:\n        a (list[float]): Some.\n        o (dict): One.\n'
        "            x (int, default=1): X, of o.\n        e (str): Which. Enum values: ['p', 'q'].\n"
        '    """\n\n\n\n'
    )
    assert described([one], "xml") == (
        '<function name="f">\n  <desc>Do f.</desc>\n  <params>\n'
        '    <param name="a" type="array[float]" required="true">\n      <desc>Some.</desc>\n    </param>\n'
        '    <param name="o" type="dict" required="false">\n      <desc>One.</desc>\n      <params>\n'
        '        <param name="x" type="integer" required="true" default="1">\n          <desc>X, of o.</desc>\n'
        "        </param>\n      </params>\n    </param>\n"
        '    <param name="e" type="string" required="false">\n'
        "      <desc>Which. Enum values: ['p', 'q'].</desc>\n    </param>\n  </params>\n</function>\n"
    )


NAMES = st.from_regex(re.compile(r"[a-z]\w{0,5}", re.ASCII), fullmatch=True).filter(
    lambda name: (
        name.isidentifier() and name not in ("as", "if", "in", "is", "or", "and", "def", "del", "for", "not", "try")
    )
)
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), max_size=12)
VALUES = st.recursive(
    st.booleans() | st.integers(-(10**9), 10**9) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
CALLS = st.lists(st.tuples(NAMES, st.dictionaries(NAMES, VALUES, max_size=3)), min_size=1, max_size=3)


def _is_kept(value: Any, form: Form) -> bool:
    """Whether a text in concise XML has no space around it, which the official reader takes away."""
    return form.calls != "concise_xml" or not isinstance(value, str) or value == value.strip()


@given(CALLS, st.sampled_from(FORMS))
def test_what_is_written_in_a_form_is_read_back(calls: list[tuple[str, dict[str, Any]]], form: Form) -> None:
    said = write(calls, form)
    if "keyword" in said or any("TOOLCALL>" in repr(given) or "functions>" in repr(given) for _, given in calls):
        return
    kept = [(name, {key: each for key, each in given.items() if _is_kept(each, form)}) for name, given in calls]
    said = write(kept, form)
    assert repr(read_strictly(said, form)) == repr([(name, dict(given)) for name, given in kept])
    if form.calls != "json":
        assert repr(read(said, form)) == repr([{name: dict(given)} for name, given in kept])


@given(st.text(), st.sampled_from(FORMS))
def test_any_text_is_read_or_refused(said: str, form: Form) -> None:
    for reader in (read, read_strictly):
        with suppress(DecodingError):
            assert isinstance(reader(said, form), list)


@pytest.mark.parametrize(
    ("calls", "said", "wanted"),
    [
        ("json", '```json\n[{"function": "f", "parameters": {"a": 1}}]\n```', [{"f": {"a": 1}}]),
        ("json", 'Sure: [{"function": "f", "parameters": {}}] Done.', [{"f": {}}]),
        ("json", "I cannot do that.", []),
        ("json", '[{"function": "f", "parameters": {"a": [{"b": 1}]}}]', []),
        ("json", '[{"function": "f"}]', None),
        (
            "verbose_xml",
            '<functions><function name="f"><param name="a" value="1"/></function></functions>',
            [{"f": {"a": "1"}}],
        ),
        (
            "verbose_xml",
            '<functions><function name="f"><params><param value="x"/></params></function></functions>',
            [{"f": {None: "x"}}],
        ),
        ("verbose_xml", "<functions><function/></functions>", None),
        (
            "concise_xml",
            '<functions><function name="f"><param name="a" type="integer"> 5 </param></function></functions>',
            [{"f": {"a": 5}}],
        ),
        (
            "concise_xml",
            '<functions><function name="f"><param name="a" type="array">[true]</param></function></functions>',
            None,
        ),
        ("concise_xml", "f(a=1)", None),
        ("python", "f(a=1), g()", [{"f": {"a": 1}}, {"g": {}}]),
        ("python", "```\n[f(5, a=b)]\n```", [{"f": {"a": "b"}}]),
    ],
)
def test_text_is_read_as_the_official_checker_reads_it(calls: Any, said: str, wanted: Any) -> None:
    form = Form(calls=calls)
    if wanted is None:
        with pytest.raises(DecodingError):
            read(said, form)
    else:
        assert read(said, form) == wanted


def test_marks_that_are_asked_for_must_be_there() -> None:
    form = Form(is_tagged=True)
    assert read("So: <TOOLCALL>[f(a=1)]</TOOLCALL>", form) == [{"f": {"a": 1}}]
    with pytest.raises(DecodingError, match="TOOLCALL"):
        read("[f(a=1)]", form)


def test_what_drops_or_guesses_an_argument_is_no_call_to_the_strict_reader() -> None:
    for said in ("[f(5)]", "[f(a=b)]", "[f(**{'a': 1})]", "[f(a=g())]", "[f()()]"):
        with pytest.raises(DecodingError):
            read_strictly(said, Form())
    assert read_strictly("[a.b(x=(1, [2]), y=-1)]", Form()) == [("a.b", {"x": [1, [2]], "y": -1})]
    nested = '[{"function": "f", "parameters": {"a": [{"b": 1}]}}]'
    assert read_strictly(nested, Form(calls="json")) == [("f", {"a": [{"b": 1}]})]
    with pytest.raises(DecodingError):
        read_strictly('[{"function": "f", "parameters": [1]}]', Form(calls="json"))


def test_a_text_of_many_braces_is_searched_in_one_pass() -> None:
    for hostile in ("[" + "{}," * 30_000, "[{" * 30_000, "[{" + "}" * 30_000 + " x"):
        assert read(hostile, Form(calls="json")) == []


@pytest.mark.anyio
async def test_the_oracle_is_right_in_every_form(data: Path) -> None:
    for task in tasks_in(data)[:26]:
        found = await judged(task, oracle(task))
        assert (found.verdict.kind, found.others["official"].kind) == ("pass", "pass"), task.id


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("said", "official", "kind", "code"),
    [
        ("[book.room(city='Rome, <Italy>', nights=3)]", "value_error:others", "fail", "wrong-value"),
        (
            "[book.room('Rome, <Italy>', nights=2)]",
            "simple_function_checker:missing_required",
            "fail",
            "malformed-call",
        ),
        ("[book.room(city=", "ast_decoder:decoder_failed", "fail", "malformed-call"),
        ("I cannot do that.", "ast_decoder:decoder_failed", "abstain", "no-call"),
        ("HTTP 500 Internal Server Error", "ast_decoder:decoder_failed", "unscored", "error-text"),
        ("", "simple_function_checker:wrong_count", "fail", "empty-answer"),
    ],
)
async def test_what_is_wrong_is_told(data: Path, said: str, official: str, kind: str, code: str) -> None:
    plain = next(task for task in tasks_in(data) if task.form == Form())
    found = await judged(plain, ScriptedModel([[text(said)]]))
    assert found.others["official"].reason == official
    assert (found.verdict.kind, found.verdict.code) == (kind, code)


@pytest.mark.anyio
async def test_the_board_says_how_far_apart_the_forms_are(data: Path, tmp_path: Path) -> None:
    suite = bfcl_suite(data, categories_named(["format_sensitivity"]))
    trials = await run_study(Study(suite=suite, models=(ORACLE,), folder=tmp_path / "out", jobs=4), lambda _: None)
    (row,) = board_rows(trials)
    assert row["format_sensitivity"] == {"max_delta": 0.0, "std": 0.0, "forms": 26, "tasks": 52, "of": 5_200}
    assert all(row[part] is None for part in ("non_live", "live", "multi_turn"))
    wrong = [trial for trial in trials if trial.task.startswith("format_sensitivity_0:")]
    failing = type(wrong[0].verdict)(kind="fail", reason="value_error:string")
    changed = [trial if trial not in wrong else _with_official(trial, failing) for trial in trials]
    (row,) = board_rows(changed)
    spread: Any = row["format_sensitivity"]
    assert spread["max_delta"] == 50.0
    assert spread["std"] == round(math.sqrt(50.0**2 / 26), 2)
    assert "26 forms of the prompt lie 50.00 points apart" in "\n".join(report_lines([row, row]))


def _with_official(trial: Any, verdict: Any) -> Any:
    return structs.replace(trial, others={"official": verdict})


def test_words_of_another_version_are_refused(data: Path) -> None:
    (data.parent / prompts.TASKS).write_text("def other(): return ' In Python.'")
    with pytest.raises(UsageError, match="pinned version"):
        tasks_in(data)
