"""Configurations: names that tell them apart, grids, ablations, and what their settings do to a run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy import Agent, Limits, Message, Usage, UsageError, tool
from wieldy.agent.parts import Actions, Strategy
from wieldy.core.json import JsonObject
from wieldy.core.ports import Model, ModelEvent, ModelReply, ModelRequest
from wieldy.evals.cases.case import Attempt, Suite
from wieldy.evals.cases.configurations import LIMITS, Configuration, ablations, grid, with_setting
from wieldy.evals.cases.deployments import contradiction, merged
from wieldy.evals.cases.results import Trial, read_study
from wieldy.evals.studies import workbench
from wieldy.evals.studies.running import Progress, Study, run_study
from wieldy.evals.tasks.task import ExpectedCall, Task
from wieldy.evals.tasks.task_cases import case_of
from wieldy.run.journal import MemoryJournal
from wieldy.run.policy import Deny
from wieldy.testing import ScriptedModel, call, text

NAMES = st.text("abcxyz_", min_size=1, max_size=4)
CONFIGURATIONS = st.builds(
    Configuration,
    model=st.sampled_from(["local", "openai:x", "http://h:1/v1#m"]),
    strategy=st.sampled_from([None, *get_args(Strategy)]),
    actions=st.sampled_from(get_args(Actions)),
    format=st.none() | NAMES,
    constraint=st.booleans(),
    parallel=st.booleans(),
    tools=st.booleans(),
    without=st.lists(NAMES, max_size=3).map(tuple),
    search=st.booleans(),
    policy=st.none() | NAMES,
    limits=st.dictionaries(st.sampled_from(["turns", "calls", "output_tokens"]), st.integers(0, 10**9), max_size=2)
    | st.dictionaries(st.just("wall_time_s"), st.floats(0, 1e9), max_size=1),
)


@given(CONFIGURATIONS, CONFIGURATIONS)
def test_configurations_have_one_name_only_if_they_are_the_same(one: Configuration, other: Configuration) -> None:
    assert (one.name == other.name) == (one == other)


@given(CONFIGURATIONS)
def test_settings_read_back_give_the_configuration_again(one: Configuration) -> None:
    again = Configuration(model=one.model)
    for name, value in one.settings.items():
        again = with_setting(again, name, value)
    assert again == one


def test_a_grid_has_every_combination_once_and_an_ablation_everything_but_one_thing() -> None:
    found = grid([Configuration(model="local")], {"strategy": ["native", "guided"], "turns": ["5", "20", "5"]})
    assert [each.name for each in found] == [
        "local (strategy=native, turns=5)",
        "local (strategy=native, turns=20)",
        "local (strategy=guided, turns=5)",
        "local (strategy=guided, turns=20)",
    ]
    names = [each.name for each in ablations([Configuration(model="m")], ["tools", "constraint", "parallel", "add"])]
    assert names == ["m", "m (tools=off)", "m (constraint=off)", "m (parallel=off)", "m (without=add)"]


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("strategy", "clever", "one of guided, native"),
        ("constraint", "yes", "one of on, off"),
        ("turns", "many", "a number for turns"),
        ("turns", "2.5", "a number for turns"),
        ("wall_time_s", "nan", "a number for wall_time_s"),
        ("wall_time_s", "inf", "a number for wall_time_s"),
        ("without", "", "a name for without"),
        ("colour", "red", "Expected a setting"),
    ],
)
def test_settings_that_do_not_exist_are_refused(name: str, value: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        with_setting(Configuration(model="m"), name, value)


@given(st.sampled_from(LIMITS), st.integers(1, 50), st.integers(1, 50))
def test_a_limit_of_the_case_is_only_made_narrower(name: str, own: int, wanted: int) -> None:
    configuration = Configuration(model="m", limits={name: wanted})
    assert getattr(configuration.limited(Limits()), name) == wanted
    if own != getattr(Limits(), name):
        assert getattr(configuration.limited(replace(Limits(), **{name: own})), name) == min(own, wanted)


# What settings do


@tool(effect="read")
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


@tool(effect="read")
def subtract(a: int, b: int) -> int:
    """Subtract."""
    return a - b


SUM = Task(
    id="sum",
    prompt="What is 2 + 3?",
    tools=[add, subtract],
    calls=(ExpectedCall(name="add", arguments={"a": 2, "b": 3}),),
    answer=("5",),
)


class Watched:
    """A model that keeps what it was asked, calls `add` if that is offered, and answers 5."""

    name = "watched"

    def __init__(self) -> None:
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self.requests.append(request)
        has_asked = any(message.role == "tool" for message in request.messages)
        may = any(each.name == "add" for each in request.tools) and not has_asked
        script = ScriptedModel([[call("add", {"a": 2, "b": 3})]] if may else [[text("The sum is 5.")]], name=self.name)
        async for event in script.stream(request):
            yield event


def suite(*tasks: Task) -> Suite:
    return Suite(name="own", cases=tuple(map(case_of, tasks)), source={})


async def studied(
    model: Model, configurations: list[Configuration], folder: Path, monkeypatch: pytest.MonkeyPatch, **more: Any
) -> list[Trial]:
    def resolved(name: str, **settings: object) -> Model:
        del name, settings
        return model

    monkeypatch.setattr(workbench, "resolved", resolved)
    own = Study(suite=suite(SUM), configurations=tuple(configurations), folder=folder, **more)
    return await run_study(own, nothing)


def nothing(progress: Progress) -> None:
    del progress


@pytest.mark.anyio
async def test_each_setting_reaches_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Watched()
    base = Configuration(model="watched")
    names = ["tools", "add", "subtract", "parallel"]
    trials = await studied(
        model,
        [*ablations([base], names), with_setting(base, "search", "on"), with_setting(base, "policy", "none")],
        tmp_path,
        monkeypatch,
        policies={"none": lambda _: Deny(reason="no")},
    )
    told = {trial.configuration: (trial.verdict.kind, trial.verdict.code) for trial in trials}
    assert told == {
        "watched": ("pass", ""),
        "watched (tools=off)": ("abstain", "no-call"),
        "watched (without=add)": ("abstain", "no-call"),
        "watched (without=subtract)": ("pass", ""),
        "watched (parallel=off)": ("pass", ""),
        "watched (search=on)": ("abstain", "no-call"),  # it does not look for a tool
        "watched (policy=none)": ("unscored", "denied"),
    }
    offered = [tuple(each.name for each in request.tools) for request in model.requests]
    assert offered[0] == ("add", "subtract")
    assert () in offered
    assert ("subtract",) in offered
    assert ("add",) in offered
    assert ("search_tools",) in offered
    assert {request.parallel_calls for request in model.requests} == {True, False}


@pytest.mark.anyio
async def test_calls_of_code_count_as_the_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = ScriptedModel([[call("python", {"code": "print(await add(2, 3))"})], [text("The sum is 5.")]], name="coder")
    code = Configuration(model="coder", actions="code")
    try:
        trials = await studied(model, [code], tmp_path, monkeypatch)
    except UsageError as error:
        pytest.skip(f"no sandbox here: {error}")
    if trials[0].verdict.kind == "unscored":
        pytest.skip(f"no sandbox here: {trials[0].verdict.reason}")
    assert trials[0].verdict.kind == "pass", trials[0].verdict.reason
    wrong = ScriptedModel([[call("python", {"code": "print(await add(2, 4))"})], [text("The sum is 5.")]], name="coder")
    (trial,) = await studied(wrong, [code], tmp_path / "wrong", monkeypatch)
    assert (trial.verdict.kind, trial.verdict.code) == ("fail", "wrong-value")


@pytest.mark.anyio
async def test_calls_that_are_only_searches_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    turns = [[call("search_tools", {"queries": ["add"]})], [call("add", {"a": 2, "b": 3})], [text("The sum is 5.")]]
    (trial,) = await studied(
        ScriptedModel(turns, name="s"), [Configuration(model="s", search=True)], tmp_path, monkeypatch
    )
    assert trial.verdict.kind == "pass"
    assert trial.calls == 2


@pytest.mark.anyio
async def test_what_would_silently_change_nothing_is_refused(tmp_path: Path) -> None:
    for configuration, words in (
        (Configuration(model="script:oracle", without=("ad",)), r"No task offers a tool 'ad' .* add"),
        (Configuration(model="script:oracle", without=("add", "subtract")), "leaves no tool"),
        (
            Configuration(model="script:oracle", tools=False, without=("add",)),
            "tools=off, without would change nothing",
        ),
        (Configuration(model="script:oracle", tools=False, parallel=False), "tools=off, parallel would change nothing"),
        (Configuration(model="script:oracle", tools=False, search=True), "tools=off, search would change nothing"),
        (Configuration(model="script:oracle", format="hermes"), "writes no text"),
        (Configuration(model="script:oracle", actions="code"), "makes calls"),
        (Configuration(model="script:oracle", policy="none"), "the name of a policy"),
        (Configuration(model="local", parallel=False), "parallel=off needs strategy=native"),
        (Configuration(model="local", constraint=False), "constraint=off needs strategy=native"),
        (Configuration(model="local", strategy="guided", format="hermes"), "format=hermes needs strategy=native"),
    ):
        with pytest.raises(UsageError, match=words):
            await run_study(Study(suite=suite(SUM), configurations=(configuration,), folder=tmp_path), nothing)
    none = suite(Task(id="t", prompt="?", answer=("5",)))
    without = Configuration(model="script:oracle", tools=False)
    with pytest.raises(UsageError, match="offers a tool: tools=off would change nothing"):
        await run_study(Study(suite=none, configurations=(without,), folder=tmp_path), nothing)
    with pytest.raises(UsageError, match="each model once, found 'script:oracle' twice"):
        await run_study(Study(suite=suite(SUM), models=("script:oracle",) * 2, folder=tmp_path), nothing)
    own = replace(suite(SUM), cases=tuple(replace(case, takes_code=False) for case in suite(SUM).cases))
    code = Configuration(model="local", actions="code")
    with pytest.raises(UsageError, match="actions=code cannot be"):
        await run_study(Study(suite=own, configurations=(code,), folder=tmp_path), nothing)


def test_an_attempt_without_a_configuration_makes_a_plain_agent() -> None:
    model = ScriptedModel([[text("Hello")]])
    agent = Attempt(model=model, journal=MemoryJournal(), metadata={}).agent([add])
    assert isinstance(agent, Agent)
    assert agent.model is model
    assert [each.name for each in agent.toolset] == ["add"]


# Deployments


class Telling(Watched):
    def __init__(self, told: JsonObject) -> None:
        super().__init__()
        self.told = told

    async def deployment(self) -> JsonObject:
        return self.told

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        del request
        yield ModelReply(message=Message.assistant("The sum is 5."), usage=Usage())


@pytest.mark.anyio
async def test_two_deployments_under_one_name_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = Configuration(model="m")
    await studied(Telling({"sha256": "a", "engine": None}), [one], tmp_path, monkeypatch)
    # Nothing is left to run, so nothing is asked and nothing can be mixed.
    await studied(Telling({"sha256": "b"}), [one], tmp_path, monkeypatch)
    with pytest.raises(UsageError, match=r'deployed\.sha256 was "a" and is "b"'):
        await studied(Telling({"sha256": "b"}), [one], tmp_path, monkeypatch, trials=2)
    await studied(Telling({"sha256": "a", "engine": "e 1"}), [one], tmp_path, monkeypatch, trials=2)
    study: Any = read_study(tmp_path)
    assert study["deployments"]["m"]["deployed"] == {"sha256": "a", "engine": "e 1"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | NAMES,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
RECORDS = st.dictionaries(NAMES, JSON, max_size=4)


@given(RECORDS, RECORDS)
def test_what_does_not_contradict_can_be_merged_and_keeps_what_either_says(one: JsonObject, other: JsonObject) -> None:
    assert contradiction(one, one) is None
    assert (contradiction(one, other) is None) == (contradiction(other, one) is None)
    if contradiction(one, other) is None:
        both = merged(one, other)
        assert contradiction(one, both) is None
        assert contradiction(other, both) is None
        assert both.keys() == one.keys() | other.keys()
        assert merged(one, one) == one
