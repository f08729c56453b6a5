"""Runs of one task, from the model's reply to both verdicts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest
from bfcl_examples import BOOK, FIND, function, task

from wieldy import InvalidToolCall, Message, Usage
from wieldy.core.errors import ProviderError, RateLimitError
from wieldy.core.ports import Entry, Model, ModelEvent, ModelReply, ModelRequest
from wieldy.evals.bfcl.answers import right_calls
from wieldy.evals.bfcl.data import BfclTask
from wieldy.evals.bfcl.offering import offer_of
from wieldy.evals.bfcl.running import run_task
from wieldy.evals.bfcl.scoring import official_verdict, strict_verdict
from wieldy.evals.cases.case import Attempt
from wieldy.evals.verdicts.verdict import Verdict
from wieldy.run.journal import MemoryJournal
from wieldy.schema import CompiledSchema
from wieldy.testing import ScriptedModel, call, text

GOOD = {"city": "Aix", "nights": 3}


class Failing:
    """A model behind a provider that fails."""

    name = "failing"

    def __init__(self, error: Exception) -> None:
        self._error = error

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        raise self._error
        yield ModelReply(message=request.messages[0], usage=Usage())


class Misread:
    """A model whose good call was not read."""

    name = "misread"

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        del request
        bad = InvalidToolCall(id="x", name="trips_book", text='{"city": "Aix", "nights": 3}', error="?")
        yield ModelReply(message=Message.assistant("", [bad]), usage=Usage())


async def entries_of(one: BfclTask, model: Model) -> Sequence[Entry]:
    journal = MemoryJournal()
    run_id = await run_task(one, Attempt(model=model, journal=journal, metadata={}))
    return journal.read(run_id)


async def verdicts(one: BfclTask, model: Model) -> tuple[Verdict, Verdict]:
    entries = await entries_of(one, model)
    return official_verdict(one, entries), strict_verdict(one, entries)


def saying(*items: object) -> ScriptedModel:
    return ScriptedModel(lambda messages: list(items) if len(messages) == 1 else [text("?")])  # type: ignore[arg-type]


@pytest.mark.anyio
async def test_a_right_call_passes_and_is_never_carried_out() -> None:
    entries = await entries_of(task(), saying(call("trips_book", GOOD)))
    assert official_verdict(task(), entries).kind == strict_verdict(task(), entries).kind == "pass"
    assert "call_started" not in [entry.kind for entry in entries]
    assert [entry.kind for entry in entries].count("reply") == 1


@pytest.mark.anyio
async def test_both_verdicts_tell_their_reason_and_the_entry() -> None:
    official, strict = await verdicts(task(), saying(call("trips_book", {"city": "Aix en*Provence", "nights": 3})))
    assert official.kind == "pass"
    assert (strict.kind, strict.layer, strict.code) == ("fail", "model", "wrong-value")
    assert strict.evidence
    official, strict = await verdicts(task(), saying(call("trips_book", {**GOOD, "nights": 4})))
    assert (official.kind, official.reason) == ("fail", "value_error:others")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("items", "kind", "code"),
    [
        ([text("No function fits.")], "pass", ""),
        ([text("")], "fail", "empty-answer"),
        ([text("HTTP 500 Internal Server Error")], "unscored", "error-text"),
        ([text('<tool_call>{"name": "trips_book"')], "fail", "malformed-call"),
        ([call("trips_book", '{"city": ')], "fail", "malformed-call"),
        ([call("trips_book", GOOD)], "fail", "needless-call"),
    ],
)
async def test_only_an_answer_in_words_is_an_abstention(items: list[object], kind: str, code: str) -> None:
    official, strict = await verdicts(task("irrelevance"), saying(*items))
    assert (strict.kind, strict.code) == (kind, code)
    assert official.kind == ("fail" if code == "needless-call" else "pass")


@pytest.mark.anyio
async def test_an_answer_in_words_where_a_call_was_wanted_is_an_abstention_and_no_pass() -> None:
    official, strict = await verdicts(task(), saying(text("Which Aix do you mean?")))
    assert (official.kind, strict.kind) == ("fail", "abstain")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("trips_book", GOOD, None),
        ("made_up", {}, "wrong-tool"),
        ("trips_book", {"city": "Aix"}, "missing-parameter"),
        ("trips_book", {**GOOD, "colour": "red"}, "undeclared-parameter"),
    ],
)
async def test_a_relevant_call_is_of_a_function_that_there_is(name: str, arguments: object, code: str | None) -> None:
    official, strict = await verdicts(task("live_relevance"), saying(call(name, arguments)))  # type: ignore[arg-type]
    assert official.kind == "pass"
    assert (strict.code or None) == code


@pytest.mark.anyio
@pytest.mark.parametrize("error", [ProviderError("HTTP 500"), RateLimitError("slow down")])
async def test_what_a_provider_did_is_not_put_down_to_the_model(error: Exception) -> None:
    for one in (task(), task("irrelevance"), task("live_relevance")):
        _, strict = await verdicts(one, Failing(error))
        assert (strict.kind, strict.layer) == ("unscored", "provider")


@pytest.mark.anyio
async def test_what_we_did_is_not_put_down_to_the_model() -> None:
    official, strict = await verdicts(task(), Misread())
    assert official.kind == "fail"
    assert (strict.kind, strict.layer, strict.code) == ("unscored", "harness", "parse")


@pytest.mark.anyio
async def test_a_task_without_a_right_answer_is_invalid_whatever_was_said() -> None:
    broken = task(functions=(FIND,), answers=({"find": {"query": ["a"], "extra": [1]}},))
    _, strict = await verdicts(broken, saying(call("find", {"query": "a"})))
    assert strict.kind == "invalid-task"


@pytest.mark.anyio
async def test_right_replies_pass_through_the_whole_harness_in_every_language() -> None:
    java = function(
        "Trips.book", {"nights": {"type": "long", "description": ""}, "more": {"type": "HashMap", "description": ""}}
    )
    answer = {"Trips.book": {"nights": [3], "more": [{"k": [1]}]}}
    both = task("parallel_multiple", functions=(FIND, BOOK), answers=(*task().answers, {"find": {"query": ["x"]}}))
    for one in (task(), both, task("simple_java", functions=(java,), answers=(answer,))):
        offer = offer_of(one)
        said = [call(offer.shown(name), dict(arguments)) for name, arguments in right_calls(one)]
        official, strict = await verdicts(one, saying(*said))
        assert (official.kind, strict.kind) == ("pass", "pass")


def test_functions_are_offered_under_names_and_schemas_that_every_provider_takes() -> None:
    long = function("a." * 40, {"x": {"type": "tuple", "items": {"type": "float"}, "description": ""}})
    point = {"type": "dict", "properties": {"x": {"type": "any"}}, "required": ["x"], "description": ""}
    offer = offer_of(task(functions=(BOOK, function("trips_book", {"at": point}), long, BOOK)))
    shown = [definition.name for definition in offer.definitions]
    assert len(set(shown)) == len(shown) == 3
    assert all(len(name) <= 64 and name.replace("_", "").isalnum() for name in shown)
    assert [offer.names[name] for name in shown] == ["trips.book", "trips_book", "a." * 40]
    assert offer.shown("trips.book") == "trips_book"
    schemas = [definition.input_schema for definition in offer.definitions]
    assert schemas[0]["properties"]["price"]["type"] == "number"  # type: ignore[index, call-overload]
    assert CompiledSchema(schemas[1]).accepts({"at": {"x": [1]}})
    assert not CompiledSchema(schemas[1]).accepts({"at": {}})
    assert CompiledSchema(schemas[2]).accepts({"x": [1.5]})
    java = offer_of(task("simple_java", functions=(function("f", {"x": {"type": "long", "description": "N."}}),)))
    assert java.definitions[0].input_schema["properties"] == {
        "x": {"type": "string", "description": "N. Give the Java 8 value of type long as a text."}
    }
