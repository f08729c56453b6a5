"""One value out of a text: typed, within its limits, or an error that says what there is instead."""

from __future__ import annotations

import re
import warnings
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any, Literal

import pytest

import wieldy
from wieldy import (
    BudgetError,
    ForcedOutputWarning,
    ImagePart,
    Incomplete,
    JsonOutput,
    Limits,
    Message,
    ModelReply,
    ModelRequest,
    OutputDelta,
    OutputError,
    TextPart,
    UsageError,
)
from wieldy.connect.models.resolve import resolve
from wieldy.core.ports import ModelEvent
from wieldy.testing import ScriptedModel, text


@dataclass
class Point:
    x: int
    y: int = 0


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True)
class Forced:
    """A model whose answer the budget closed."""

    answer: str = '{"x": 1, "y": 0}'
    forced: tuple[str, ...] = ("/y",)
    name: str = "forced"

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        async for event in ScriptedModel([[text(self.answer)]]).stream(request):
            if isinstance(event, ModelReply):
                yield replace(event, finish="closed_by_budget", forced=self.forced, held=True)
            else:
                yield event


class TooSmall:
    """A model that can do nothing with so few tokens."""

    name = "too small"

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        assert request.max_output_tokens is not None
        raise BudgetError("At least 9 tokens are needed.", minimum=9, budget=request.max_output_tokens)
        yield


@pytest.mark.parametrize(
    ("spec", "answer", "value"),
    [
        (Point, '{"x": 1}', Point(1)),
        (list[Point], '[{"x": 1}]', [Point(1)]),
        ({"type": "integer"}, "7", 7),
        (["a", "b"], "b", "b"),
        (Literal["a", 2], "2", 2),
        (Colour, "red", Colour.RED),
        (re.compile("[a-c]+"), "abc", "abc"),
    ],
)
def test_the_value_is_what_was_wanted(spec: object, answer: str, value: object) -> None:
    with ScriptedModel([[text(answer)]]) as model:
        found = wieldy.extract("What is it?", spec, model=model, instructions="Be exact.")

    assert (found, type(found)) == (value, type(value))
    assert [message.role for message in model.requests[0].messages] == ["system", "user"]


def test_a_conversation_and_images_are_prompts_too() -> None:
    picture = Message(role="user", parts=(TextPart(text="What is this?"), ImagePart(url="data:image/png;base64,AA==")))
    with ScriptedModel([[text('{"x": 1}')]]) as model:
        assert wieldy.extract([picture], Point, model=model) == Point(1)

    assert tuple(model.requests[0].messages) == (picture,)
    assert isinstance(model.requests[0].output, JsonOutput)


def test_an_answer_that_never_fits_is_an_error_that_has_it() -> None:
    journal = wieldy.MemoryJournal()
    model = ScriptedModel(lambda messages: [text('{"y": 1}')])

    with pytest.raises(OutputError, match="`x` is missing") as caught:
        wieldy.extract("?", Point, model=model, limits=Limits(corrections=1), journal=journal)

    error = caught.value
    assert error.incomplete == Incomplete(text='{"y": 1}', error=error.incomplete.error, partial={"y": 1})
    assert list(journal.run_ids()) == [error.run_id]
    assert len(model.requests) == 2


def test_what_the_budget_decided_is_given_with_a_warning_that_names_it() -> None:
    with pytest.warns(ForcedOutputWarning, match="/y") as caught:
        assert wieldy.extract("?", Point, model=Forced()) == Point(1)

    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize(
    ("spec", "answer", "words"),
    [
        (Point, '{"x": 1}', ": where it ends."),
        (list[int], "[]", ": all of it, or only where it ends."),
        (int, "12", ": all of it, or only where it ends."),
        (["12", "1250"], "12", ": all of it, or only where it ends."),
    ],
)
def test_a_warning_says_no_more_than_is_known(spec: Any, answer: str, words: str) -> None:
    with pytest.warns(ForcedOutputWarning, match=words):
        wieldy.extract("?", spec, model=Forced(answer, ("",)))


def test_what_nothing_was_forced_in_brings_no_warning() -> None:
    with ScriptedModel([[text('{"x": 1}')]]) as model, warnings.catch_warnings():
        warnings.simplefilter("error")
        wieldy.extract("?", Point, model=model)


def test_too_small_a_budget_is_an_error_of_use_that_says_what_would_do() -> None:
    with pytest.raises(UsageError) as caught:
        wieldy.extract("?", Point, model=TooSmall(), limits=Limits(output_tokens=8))

    assert isinstance(caught.value, BudgetError)
    assert (caught.value.minimum, caught.value.budget) == (9, 8)


@pytest.mark.anyio
async def test_inside_an_event_loop_there_is_another_name_for_it() -> None:
    with pytest.raises(UsageError, match="extract_async"):
        wieldy.extract("?", Point, model=ScriptedModel([]))
    with ScriptedModel([[text('{"x": 1}')]]) as model:
        assert await wieldy.extract_async("?", Point, model=model) == Point(1)


@pytest.mark.anyio
async def test_a_warning_in_an_event_loop_is_about_the_line_that_asked() -> None:
    with pytest.warns(ForcedOutputWarning) as caught:
        await wieldy.extract_async("?", Point, model=Forced())

    assert [warning.filename for warning in caught] == [__file__]


def test_what_is_no_prompt_and_no_output_is_refused() -> None:
    for prompt, spec in (("", Point), ([], Point), (7, Point), ("?", None), ("?", "Point")):
        with pytest.raises(UsageError):
            wieldy.extract(prompt, spec, model=ScriptedModel([]))  # type: ignore[arg-type]


# The smallest real model, whose tokens are chosen here


@dataclass
class Purchase:
    what: str
    price: float
    notes: list[str]


BOUGHT = "We bought tea for 12.50."


@pytest.mark.model
def test_a_local_model_gives_a_whole_value_at_every_budget_from_the_shortest_up(smallest_model: Path) -> None:
    model = resolve(f"local:{smallest_model}")
    with pytest.raises(BudgetError) as caught:
        wieldy.extract(BOUGHT, Purchase, model=model, limits=Limits(output_tokens=2))
    minimum = caught.value.minimum
    with pytest.raises(BudgetError):
        wieldy.extract(BOUGHT, Purchase, model=model, limits=Limits(output_tokens=minimum - 1))

    for budget in (minimum, minimum + 5, 90):
        agent = wieldy.Agent(model, output=Purchase, limits=Limits(output_tokens=budget), strategy="native")
        result = agent.run_sync(BOUGHT)
        assert isinstance(result.output, Purchase), budget
        assert result.usage.output_tokens <= budget
        assert result.usage.requests == 1  # what a mask holds needs no correction
        assert result.closed_by_budget == bool(result.forced)
        if budget == minimum:
            assert result.closed_by_budget


@pytest.mark.model
def test_a_local_model_writes_one_of_the_options_and_what_matches(smallest_model: Path) -> None:
    model = resolve(f"local:{smallest_model}")

    assert wieldy.extract("Is the sky blue?", ["yes", "no"], model=model) in ("yes", "no")
    assert re.fullmatch(r"\d{4}", wieldy.extract("When did it end?", re.compile(r"\d{4}"), model=model))


@pytest.mark.model
@pytest.mark.anyio
@pytest.mark.parametrize("strategy", ["guided", "native"])
async def test_a_local_model_with_tools_ends_with_the_output(smallest_model: Path, strategy: Any) -> None:
    @wieldy.tool(effect="read")
    def price_of(what: str) -> float:
        """The price of a thing."""
        return 12.5

    agent = wieldy.Agent(
        f"local:{smallest_model}",
        tools=[price_of],
        output=Purchase,
        strategy=strategy,
        limits=Limits(turns=1, output_tokens=120),
    )
    events = [event async for event in agent.stream("What does tea cost?")]

    result = events[-1].result  # type: ignore[union-attr]
    assert isinstance(result.output, Purchase)
    partials = [event.value for event in events if isinstance(event, OutputDelta)]
    assert Purchase(**partials[-1]) == result.output


def test_nothing_is_no_spec_and_null_is_one() -> None:
    with pytest.raises(UsageError, match=r"found None.*type\(None\)"):
        wieldy.extract("?", None, model=ScriptedModel([]))
    assert wieldy.extract("?", type(None), model=ScriptedModel([[text("null")]])) is None
