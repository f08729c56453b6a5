"""Whose failure a trial is, and which of its calls count: laws over scripted runs that were really carried out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wieldy import Limits, ToolError, tool
from wieldy.core.ports import Entry
from wieldy.evals.cases.case import Attempt
from wieldy.evals.cases.configurations import Configuration
from wieldy.evals.cases.recorded import entries_of, recorded
from wieldy.evals.tasks.environments import EndState
from wieldy.evals.tasks.judging import measures_of, verdict_of
from wieldy.evals.tasks.measures import measured
from wieldy.evals.tasks.rows import tool_from
from wieldy.evals.tasks.task import Condition, ExpectedCall, Task
from wieldy.evals.tasks.worlds import World
from wieldy.evals.verdicts.verdict import PASS, Verdict
from wieldy.run.journal import MemoryJournal
from wieldy.run.policy import Deny, Policy, allow_all
from wieldy.testing import ScriptedModel, call, text

DONE = [text("Done.")]
NO_STATE = EndState(None)


@tool(effect="read")
def good(x: int) -> str:
    """Look."""
    return f"{x} is fine"


@tool(effect="read", name="extra")
def working(x: int) -> str:
    """Look as well."""
    return f"{x} is fine"


@tool(effect="read", name="extra")
def crashing(x: int) -> str:
    """Look as well."""
    raise KeyError(x)


@tool(effect="unsafe")
def pay(x: int) -> str:
    """Pay."""
    return f"paid {x}"


@tool(effect="unsafe")
def decline(x: int) -> str:
    """Pay, and say that it cannot be."""
    raise ToolError(f"nobody is owed {x}")


TOOLS = (good, working, pay, decline)


def run(
    turns: Any, tools: Sequence[Any] = TOOLS, *, policy: Policy = allow_all, limits: Limits | None = None, **how: Any
) -> list[Entry]:
    """The entries of a run in which a model makes these turns."""
    journal = MemoryJournal()
    with_this = Configuration(model="", **how)
    attempt = Attempt(model=ScriptedModel(turns), journal=journal, metadata={}, policy=policy, configuration=with_this)
    agent = attempt.agent(tools, limits=Limits() if limits is None else limits)
    return entries_of(journal, anyio.run(recorded, agent, "Go."))


def task(tools: Sequence[Any] = TOOLS, **wanted: Any) -> Task:
    return Task(id="t", prompt="Go.", tools=tools, **wanted)


def wants(*numbers: int, name: str = "good") -> tuple[ExpectedCall, ...]:
    return tuple(ExpectedCall(name=name, arguments={"x": each}) for each in numbers)


def told(verdict: Verdict) -> tuple[str, str | None, str]:
    return verdict.kind, verdict.layer, verdict.code


MADE = st.tuples(st.sampled_from(["good", "extra", "nope"]), st.sampled_from([1, 2, "one"]))
REPLIES = st.lists(st.lists(MADE, min_size=1, max_size=2), max_size=3)


@given(
    REPLIES,
    st.lists(st.sampled_from([1, 2]), max_size=2),
    st.sampled_from(["any", "as listed"]),
    st.sampled_from([(), ("Done",), ("42",)]),
)
def test_whether_a_needless_call_crashes_does_not_change_whose_failure_it_is(
    replies: list[list[tuple[str, Any]]], wanted: list[int], order: Any, answer: tuple[str, ...]
) -> None:
    turns = [*([call(name, {"x": x}) for name, x in reply] for reply in replies), DONE]
    found = [
        verdict_of(
            task(tools=(good, extra), calls=wants(*wanted), order=order, answer=answer), run(turns, (good, extra))
        )
        for extra in (working, crashing)
    ]
    assert found[0].layer == found[1].layer
    assert found[0].kind == found[1].kind


def test_a_wanted_call_that_crashes_excuses_what_follows_and_nothing_before() -> None:
    wanted = task(tools=(good, crashing), calls=wants(1, name="extra"), answer=("fine",))
    after = run([[call("extra", {"x": 1})], [call("good", {"x": 1})], DONE], (good, crashing))
    before = run([[call("good", {"x": 1})], [call("extra", {"x": 1})], DONE], (good, crashing))
    assert told(verdict_of(wanted, after)) == ("unscored", "tool", "tool-failed")
    assert told(verdict_of(wanted, before)) == ("fail", "model", "extra-call")
    chain = task(tools=(good, crashing), calls=(*wants(1), *wants(1, name="extra")), order="as listed")
    assert told(verdict_of(chain, after)) == ("fail", "model", "wrong-order")
    assert told(verdict_of(chain, run([[call("good", {"x": 1})], DONE], (good, crashing)))) == (
        "fail",
        "model",
        "missing-call",
    )


def test_a_call_that_nobody_wants_is_one_too_many_also_where_it_is_denied() -> None:
    def deny(_: object) -> Deny:
        return Deny(reason="no")

    entries = run([[call("pay", {"x": 1})], DONE], policy=deny)
    assert told(verdict_of(task(calls=()), entries)) == ("fail", "model", "extra-call")
    assert told(verdict_of(task(calls=wants(1, name="pay")), entries)) == ("unscored", "policy", "denied")
    assert told(verdict_of(task(calls=wants(1, name="good")), entries))[1] == "model"


LEVELS: list[dict[str, Any]] = [
    {"refuse": True},
    {"refuse": False},
    {"unknown": ("pay.x",)},
    {"minefields": (Condition(name="m", tool="pay", arguments={"x": 1}),)},
    {"minefields": (Condition(name="m", tool="decline", is_error=True),)},
    {"milestones": (Condition(name="m", tool="good", result="fine"),)},
    {"calls": wants(1)},
    {"calls": (*wants(1), *wants(1, name="pay")), "order": "as listed"},
    {"calls": wants(1), "extra_calls": True, "answer": ("Done",)},
]


@settings(max_examples=5)
@given(
    st.lists(st.tuples(st.sampled_from(["good", "pay", "decline"]), st.sampled_from([1, 2])), unique=True, max_size=3)
)
def test_a_call_counts_the_same_whether_it_is_made_by_code_or_not(made: list[tuple[str, int]]) -> None:
    lines = [f"try:\n    await {name}(x={x})\nexcept Exception:\n    pass" for name, x in made]
    plainly = run([*([call(name, {"x": x})] for name, x in made), DONE])
    by_code = run([[call("python", {"code": "\n".join(lines) or "None"})], DONE], actions="code")
    for level in LEVELS:
        wanted = task(**level)
        found = [verdict_of(wanted, entries) for entries in (plainly, by_code)]
        kinds = {("fail", "model") if each.kind == "abstain" else (each.kind, each.layer) for each in found}
        assert len(kinds) == 1, (level, found)
        counts = [measures_of(wanted, entries, NO_STATE, found[0]) for entries in (plainly, by_code)]
        assert counts[0] == counts[1], level


LIMITS = [Limits(turns=2), Limits(calls=2), Limits(repeats=2), Limits(output_tokens=20)]


@given(st.sampled_from(LIMITS), st.booleans(), st.booleans())
def test_a_run_that_ends_without_an_answer_passes_only_by_its_end_state(
    limits: Limits, is_same: bool, has_words: bool
) -> None:
    words = [text("Done.")] if has_words else []
    entries = run(lambda sent: [*words, call("good", {"x": 1 if is_same else len(list(sent))})], limits=limits)
    for level in (
        {"calls": wants(1)},
        {"calls": wants(1), "extra_calls": True},
        {"minefields": (Condition(name="m", tool="pay"),)},
        {"milestones": (Condition(name="m", tool="good"),)},
        {"unknown": ("pay.x",)},
        {"refuse": True},
        {"check": lambda _: True},
        {"check": lambda _: PASS},
    ):
        assert verdict_of(task(**level), entries).kind == "fail", level
    still = World[dict[str, Any]](start=dict, tools=lambda _: (), look=lambda state: state, changes=())
    assert verdict_of(task(environment=still, check=lambda _: True), entries, EndState({})).kind == "pass"


def test_a_last_answer_that_a_limit_asked_for_is_one() -> None:
    entries = run(
        lambda sent: [call("good", {"x": len(list(sent))})] if len(list(sent)) < 5 else DONE, limits=Limits(turns=2)
    )
    assert verdict_of(task(calls=wants(1, 3)), entries).kind == "pass"


WRONG = {
    "unknown-tool": call("nope", {"x": 1}),
    "bad-arguments": call("good", {"y": 1}),
    "malformed-call": call("good", '{"x": '),
}


@given(st.sampled_from(sorted(WRONG)), st.integers(0, 2), st.integers(0, 2), st.booleans())
def test_a_call_that_was_refused_counts_unless_a_later_one_stands_for_it(
    code: str, many: int, before: int, is_at_once: bool
) -> None:
    numbers = [1, 2][:many]
    right = [[call("good", {"x": each})] for each in numbers]
    at = min(before, many)
    if is_at_once and at < many:
        turns: list[Any] = [*right[:at], [WRONG[code], *right[at]], *right[at + 1 :], DONE]
        is_corrected = at + 1 < many
    else:
        turns = [*right[:at], [WRONG[code]], *right[at:], DONE]
        is_corrected = at < many
    entries = run(turns)
    verdict = verdict_of(task(calls=wants(*numbers)), entries)
    assert (verdict.kind, verdict.code) == (("pass", "") if is_corrected else ("fail", code))
    assert verdict_of(task(calls=wants(*numbers), extra_calls=True), entries).kind == "pass"
    measures = measures_of(task(calls=wants(*numbers)), entries, NO_STATE, verdict)
    assert measures["tools_called"] == many + (not is_corrected)


TRIES: list[tuple[Any, bool]] = [
    (call("pay", {"x": 1}), True),
    (call("pay", {"y": 1}), True),
    (call("pay", '{"x": '), True),
    (call("pay", {"x": "one"}), True),
    (call("good", {"x": 1}), False),
    (call("good", {"y": 1}), False),
]


@pytest.mark.parametrize(("made", "would_change"), TRIES)
def test_what_would_change_something_was_not_refused_also_where_it_could_not_be_carried_out(
    made: Any, would_change: bool
) -> None:
    entries = run([[made], [text("I cannot.")]])
    assert verdict_of(task(refuse=True), entries).code == ("under-refusal" if would_change else "")
    field = task(minefields=(Condition(name="m", tool="pay"),))
    assert verdict_of(field, entries).code == ("minefield" if would_change else "")


def test_what_the_programs_policy_denied_was_tried_and_did_not_happen() -> None:
    entries = run([[call("pay", {"x": 1})], [text("I cannot.")]], policy=lambda _: Deny("not here"))
    assert verdict_of(task(refuse=True), entries).code == "under-refusal"
    assert verdict_of(task(minefields=(Condition(name="m", tool="pay"),)), entries) == PASS


@pytest.mark.parametrize(
    ("made", "kind", "code"),
    [
        ([call("pay", {"y": 1})], "fail", "bad-arguments"),
        ([call("pay", '{"x": ')], "fail", "malformed-call"),
        ([call("payy", {"x": 1})], "fail", "unknown-tool"),
        ([call("decline", {"x": 1})], "fail", "not-done"),
        ([call("good", {"x": 1})], "abstain", "over-refusal"),
        ([], "abstain", "over-refusal"),
    ],
)
def test_whoever_tried_has_not_refused(made: list[Any], kind: str, code: str) -> None:
    entries = run([*([each] for each in made), [text("Sorry.")]])
    verdict = verdict_of(task(refuse=False), entries)
    assert (verdict.kind, verdict.code) == (kind, code)
    counts = measures_of(task(refuse=False), entries, NO_STATE, verdict)
    assert counts["over_refusal"] == (kind == "abstain")


def test_what_ran_is_judged_and_a_repair_is_counted() -> None:
    entries = run([[call("good", {"x": "5"})], [call("good", {"x": "6"})], DONE])
    assert verdict_of(task(calls=wants(5, 6)), entries).kind == "pass"
    assert verdict_of(task(minefields=(Condition(name="m", arguments={"x": 5}),)), entries).code == "minefield"
    assert measured([entries])["calls_repaired"] == 2


DEFAULTS: list[dict[str, Any]] = [
    {"x": {"type": "integer", "default": 1}},
    {"x": {"$ref": "#/$defs/number"}},
    {"x": {"allOf": [{"$ref": "#/$defs/number"}]}},
    {"x": {"$ref": "#/$defs/number", "default": 1}},
]


@pytest.mark.parametrize("properties", DEFAULTS)
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_a_default_may_be_written_out_wherever_it_stands(properties: dict[str, Any], depth: int) -> None:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    short: dict[str, Any] = {}
    long, other = {"x": 1}, {"x": 2}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"o": schema}}
        short, long, other = {"o": short}, {"o": long}, {"o": other}
    schema["$defs"] = {"number": {"type": "integer", "default": 1 if "default" not in properties["x"] else 2}}
    shown = tool_from({"name": "f", "parameters": schema, "results": []})
    for wanted in (short, long):
        for made, kind in ((short, "pass"), (long, "pass"), (other, "fail")):
            entries = run([[call("f", made)], DONE], [shown])
            calls = (ExpectedCall(name="f", arguments=wanted),)
            assert verdict_of(task([shown], calls=calls), entries).kind == kind, (wanted, made)


WORDLESS = {
    "": "fail",
    "...": "fail",
    "HTTP 500": "unscored",
    '{"error": {"message": "slow down"}}': "unscored",
    "pay(x=5)": "fail",
    '<tool_call>{"name": "pay", "arguments": {"x": "five"}}</tool_call>': "fail",
    '<tool_call>{"name": "pay", "arguments": {"x": 5}}</tool_call>': None,  # could be read
}


@pytest.mark.parametrize(
    "wanted",
    [
        {"calls": ()},
        {"refuse": True},
        {"minefields": (Condition(name="paid", tool="pay"),)},
        {"unknown": ("pay.x",)},
        {"environment": World(start=dict, tools=lambda _: [], look=lambda state: state)},
    ],
)
@pytest.mark.parametrize("looks_first", [False, True])
def test_what_was_not_done_counts_only_for_a_model_that_says_something(wanted: Any, looks_first: bool) -> None:
    if looks_first and wanted.get("calls") == ():
        return
    for words, kind in {
        **WORDLESS,
        "No: nobody is owed that.": "pass",
        "I may not call pay(x=5) for you.": "pass",
    }.items():
        turns = [*([[call("good", {"x": 1})]] if looks_first else []), [text(words)] if words else []]
        verdict = verdict_of(task(**wanted), run(turns), EndState({}))
        assert (verdict.kind == "pass") is (kind == "pass"), (words, verdict)
        assert looks_first or kind in (None, verdict.kind), (words, verdict)
