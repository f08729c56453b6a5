from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest
from fault_cases import CASES, journal_of
from hypothesis import given
from hypothesis import strategies as st

from wieldy import Agent, Approval, ApprovalRequest, UsageError, tool
from wieldy.core.ports import Entry
from wieldy.evals.reports.page.redaction import REDACTED, Redaction
from wieldy.evals.reports.page.timeline import spans_of
from wieldy.evals.reports.page.trajectory import trajectory_of
from wieldy.run.journal import kinds
from wieldy.run.policy import Ask
from wieldy.testing import ScriptedModel, call, text

KINDS = [value for name, value in vars(kinds).items() if name.isupper()]


def told(entries: Sequence[Entry], redaction: Redaction | None = None) -> dict[str, Any]:
    definitions = list[object]()

    def number(definition: object) -> int:
        definitions.append(definition)
        return len(definitions) - 1

    return trajectory_of("r", entries, redaction=redaction or Redaction(), tool_number=number)  # pyright: ignore[reportReturnType]


def told_of(run: dict[str, Any]) -> set[int]:
    return {entry for step in run["steps"] for entry in (step.get("entries") or [step["entry"]])}


@pytest.mark.anyio
@pytest.mark.parametrize("name", CASES)
async def test_every_entry_of_a_run_is_told_of_and_every_fault_stands_with_its_entries(name: str) -> None:
    entries = await journal_of(CASES[name].agent(notes=2))
    run = told(entries)
    assert told_of(run) == {entry.sequence for entry in entries}
    decisive = [fault for fault in run["faults"] if fault["layer"] == CASES[name].layer]
    assert decisive
    assert all(set(fault["evidence"]) <= told_of(run) for fault in run["faults"])
    of_calls = [fault for step in run["steps"] for fault in step.get("faults", ())]
    assert all(fault in run["faults"] for fault in of_calls)


@pytest.mark.anyio
async def test_a_call_is_told_with_its_attempts_and_what_the_policy_said() -> None:
    flaky = next(
        step for step in told(await journal_of(CASES["a tool stays busy"].agent()))["steps"] if step["kind"] == "call"
    )
    first, second = flaky["attempts"]
    assert first["error"] == "TransientToolError: 1 is busy"
    assert first["nothing_done"] is True
    assert first["took_s"] >= 0
    assert second["error"] is None
    assert flaky["policy"]["kind"] == "allowed"

    denied = next(step for step in told(await journal_of(CASES["a rule"].agent()))["steps"] if step["kind"] == "call")
    assert denied["policy"]["kind"] == "denied"
    assert "no add today" in denied["policy"]["text"]
    assert denied["attempts"] == []

    unreadable = next(
        step for step in told(await journal_of(CASES["malformed call"].agent()))["steps"] if step["kind"] == "call"
    )
    assert unreadable["unreadable"] == '{"a": 1,'
    assert unreadable["arguments"] is None


@pytest.mark.anyio
async def test_a_person_who_was_asked_is_told_of() -> None:
    @tool(effect="unsafe")
    def pay(sum: int) -> str:
        """Pay."""
        return "paid"

    def approve(request: ApprovalRequest) -> Approval:
        return request.approve(by="ann")

    agent = Agent(
        ScriptedModel([[call("pay", {"sum": 5})], [text("Done.")]]),
        [pay],
        policy=lambda _: Ask("money"),
        approver=approve,
    )
    step = next(step for step in told(await journal_of(agent))["steps"] if step["kind"] == "call")
    assert [asked["kind"] for asked in step["asked"]] == ["question", "approved"]
    assert step["policy"]["text"] == "allowed, because it was approved by ann"


@pytest.mark.anyio
async def test_runs_that_do_the_same_have_the_same_keys_whatever_their_times_and_ids() -> None:
    one, other = [told(await journal_of(CASES["a tool says no"].agent(notes=1))) for _ in range(2)]
    assert [step["key"] for step in one["steps"]] == [step["key"] for step in other["steps"]]
    another = told(await journal_of(CASES["a rule"].agent(notes=1)))
    same = [left["key"] == right["key"] for left, right in zip(one["steps"], another["steps"], strict=False)]
    assert same[:3] == [True, True, True]
    assert False in same


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@st.composite
def journals(draw: st.DrawFn) -> list[Entry]:
    """Entries of all kinds in any order, as those of a damaged or foreign journal may stand."""
    drawn = draw(
        st.lists(st.tuples(st.sampled_from([*KINDS, "a_new_kind"]), st.floats(0, 1e6)), min_size=1, max_size=12)
    )
    return [
        Entry(run_id="r", sequence=at, kind=kind, time=time, data=_data(draw, kind), digest="")
        for at, (kind, time) in enumerate(drawn)
    ]


def _data(draw: st.DrawFn, kind: str) -> dict[str, Any]:
    call_id = draw(st.sampled_from(["c1", "c2"]))
    part = {"type": "call", "id": call_id, "name": draw(st.text(max_size=5)), "arguments": {"x": draw(values)}}
    message = {"role": "assistant", "parts": [part, {"type": "text", "text": draw(st.text(max_size=5))}]}
    if kind == kinds.REPLY:
        return {"turn": 1, "message": message, "usage": {"input_tokens": 1, "output_tokens": 2, "requests": 1}}
    if kind == kinds.RUN_STARTED:
        return {"model": "m", "messages": [message], "tools": [{"name": "t", "description": "", "input_schema": {}}]}
    if kind == kinds.CORRECTION:
        return {"message": message}
    if kind in (kinds.CALL_FINISHED, kinds.CALL_CAME_LATE):
        return {"result": {"tool_call_id": call_id, "content": draw(st.text(max_size=5))}, "duration_s": 0.5}
    return {"call_id": call_id, "attempt": 1, "reason": draw(st.text(max_size=5)), "arguments": {"x": draw(values)}}


@given(journals())
def test_whatever_the_entries_are_each_is_told_of_and_the_run_is_plain_json(entries: list[Entry]) -> None:
    run = told(entries)
    unanswered = [entry.sequence for entry in entries if entry.kind == kinds.TURN_STARTED]
    assert {entry.sequence for entry in entries} - set(unanswered) <= told_of(run)
    assert json.loads(json.dumps(run, allow_nan=False)) == run


def _spoilt(draw: st.DrawFn, value: Any) -> Any:
    """The value with one part of it replaced by anything, however deep."""
    inside = [*value] if isinstance(value, dict) else [*range(len(value))] if isinstance(value, list) else []
    if not inside or draw(st.integers(0, 4)) == 0:
        return draw(values)
    at, copied = draw(st.sampled_from(inside)), value.copy()
    copied[at] = _spoilt(draw, value[at])
    return copied


@st.composite
def spoilt_journals(draw: st.DrawFn) -> list[Entry]:
    """Entries of which any may hold anything where its kind says something else."""
    return [
        entry._replace(data={**entry.data, **{name: _spoilt(draw, entry.data[name]) for name in entry.data}})
        for entry in draw(journals())
    ]


@given(spoilt_journals())
def test_entries_that_hold_something_else_than_they_should_are_told_of_all_the_same(entries: list[Entry]) -> None:
    run = told(entries)
    unanswered = [entry.sequence for entry in entries if entry.kind == kinds.TURN_STARTED]
    assert {entry.sequence for entry in entries} - set(unanswered) <= told_of(run)
    json.dumps(run)


@given(journals())
def test_spans_lie_within_the_run_and_gaps_overlap_nothing(entries: list[Entry]) -> None:
    spans = spans_of(entries)
    times = [entry.time for entry in entries]
    whole = max(times) - min(times)
    for span in spans:
        assert span["at_s"] >= 0
        assert span["took_s"] >= 0
        assert span["at_s"] + span["took_s"] <= whole * (1 + 1e-9) + 1e-6
    gaps = [span for span in spans if span["what"] == "idle"]
    for gap in gaps:
        for span in spans:
            if span is not gap:
                overlap = min(gap["at_s"] + gap["took_s"], span["at_s"] + span["took_s"]) - max(
                    gap["at_s"], span["at_s"]
                )
                assert overlap <= 1e-6


@given(journals(), st.text(min_size=1, max_size=4))
def test_what_is_redacted_stands_nowhere_in_a_text_of_the_record(entries: list[Entry], words: str) -> None:
    secret = f"s3cret-{words}-value"
    hidden = [entry._replace(data=_with(entry.data, secret)) for entry in entries]
    redaction = Redaction([re.escape(secret)])
    run = redaction.shown(told(hidden, redaction))
    everything = json.dumps(run, ensure_ascii=False)
    assert secret not in everything
    assert json.dumps(secret, ensure_ascii=False)[1:-1] not in everything


OWN = ("type", "id", "role", "call_id", "tool_call_id")


def _with(value: Any, secret: str) -> Any:
    """The value with the secret in every text that is somebody's words, names of arguments among them."""
    if isinstance(value, dict):
        if "arguments" in value:
            return {**{name: _with(item, secret) for name, item in value.items()}, "arguments": {secret: [secret]}}
        return {name: item if name in OWN else _with(item, secret) for name, item in value.items()}
    if isinstance(value, list):
        return [_with(item, secret) for item in value]
    return value + secret if isinstance(value, str) else value


@pytest.mark.parametrize("depth", [300, 600, 900, 5000])
def test_arguments_may_be_nested_as_deeply_as_they_like(depth: int) -> None:
    deep: Any = "secret"
    for _ in range(depth):
        deep = [deep]
    part = {"type": "call", "id": "c1", "name": "t", "arguments": {"x": deep}}
    data = {"turn": 1, "message": {"role": "assistant", "parts": [part]}, "usage": {}}
    entry = Entry(run_id="r", sequence=0, kind=kinds.REPLY, time=1.0, data=data, digest="")
    for redaction in (Redaction(), Redaction(["secret"])):
        _, step = told([entry], redaction)["steps"]
        assert "nested too deeply" in step["arguments"] or step["arguments"].count("[") >= depth
        assert not redaction.patterns or "secret" not in step["arguments"]


def test_patterns_that_are_none_or_match_nothing_at_all_are_refused() -> None:
    for pattern in ("(", "x*", ""):
        with pytest.raises(UsageError, match="--redact"):
            Redaction([pattern])
    assert Redaction(["sk-[a-z]+"]).text("key sk-abc.") == f"key {REDACTED}."
