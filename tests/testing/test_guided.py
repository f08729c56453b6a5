"""The scripted guided model, and the promises that it shares with a real one."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.connect.models.local import LocalModel
from wieldy.core.errors import UsageError
from wieldy.core.events import TextDelta
from wieldy.core.messages import Message
from wieldy.core.outputs import ChoiceOutput
from wieldy.core.ports import ModelReply, ModelRequest
from wieldy.grammar import Grammar, Matcher, Tokenizer, choice, json_schema
from wieldy.run.guided import Completion, GuidedModel
from wieldy.testing import ScriptedGuidedModel, spelled

pytestmark = pytest.mark.anyio

CITY: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 12}},
    "required": ["city"],
    "additionalProperties": False,
}


async def written(
    model: GuidedModel, prompt: str, *, max_tokens: int = 60, grammar: Grammar | None = None, stop: Sequence[str] = ()
) -> tuple[list[str], Completion]:
    """The pieces, and the one completion that must come last."""
    events = [event async for event in model.write(prompt, max_tokens=max_tokens, grammar=grammar, stop=stop)]
    *pieces, last = events
    assert isinstance(last, Completion)
    return [piece for piece in pieces if isinstance(piece, str)], last


# What both promise


def scripted() -> ScriptedGuidedModel:
    def words(prompt: str) -> str:
        return '{"city": "Rome"}' if "JSON" in prompt else "one two three four\nfive six seven eight nine ten"

    return ScriptedGuidedModel(weighed=lambda _, options: dict.fromkeys(options, -1.0), written=words)


@pytest.fixture(scope="module")
def loaded() -> dict[str, GuidedModel]:
    return {}


@pytest.fixture(params=["scripted", pytest.param("real", marks=pytest.mark.model)])
def model(request: pytest.FixtureRequest, loaded: dict[str, GuidedModel]) -> GuidedModel:
    if request.param == "scripted":
        return scripted()
    if "real" not in loaded:
        path: Path = request.getfixturevalue("smallest_model")
        loaded["real"] = LocalModel(path=path)
    return loaded["real"]


def test_it_offers_what_a_guided_model_must(model: GuidedModel) -> None:
    assert isinstance(model, GuidedModel)


async def test_the_pieces_and_the_tokens_spell_the_completion(model: GuidedModel) -> None:
    pieces, completion = await written(model, await model.chat_prompt([Message.user("Count to ten.")]), max_tokens=8)
    assert completion.text
    assert "".join(pieces) == completion.text == "".join(token.text for token in completion.tokens)
    assert all(token.logprob <= 0.0 for token in completion.tokens)


@pytest.mark.parametrize("limit", [1, 5])
async def test_no_more_tokens_are_written_than_asked_for(model: GuidedModel, limit: int) -> None:
    prompt = await model.chat_prompt([Message.user("Count to ten.")])
    _, completion = await written(model, prompt, max_tokens=limit)
    assert completion.finish == "length"
    assert completion.usage.output_tokens == limit
    assert completion.usage.requests == 1


async def test_the_text_ends_before_a_stop(model: GuidedModel) -> None:
    prompt = await model.chat_prompt([Message.user("Count to ten.")])
    whole = (await written(model, prompt, max_tokens=6))[1].text
    stop = whole[3:5]
    _, completion = await written(model, prompt, max_tokens=6, stop=[stop])
    assert completion.text == whole[: whole.index(stop)]
    assert completion.finish == "stop"


async def test_what_is_written_under_a_grammar_is_text_of_it(model: GuidedModel) -> None:
    prompt = await model.chat_prompt([Message.user("A city as JSON.")])
    _, completion = await written(model, prompt, grammar=json_schema(CITY))
    assert list(json.loads(completion.text)) == ["city"]
    matcher = Matcher(json_schema(CITY), Tokenizer.of_bytes())
    assert matcher.accept_text(completion.text)
    assert matcher.is_accepting


async def test_every_option_gets_a_likelihood_and_weighing_is_counted(model: GuidedModel) -> None:
    weighed = await model.weigh("The capital of France is", [" Paris", " Rome", " zebra"])
    assert set(weighed.logprobs) == {" Paris", " Rome", " zebra"}
    assert all(logprob <= 0.0 for logprob in weighed.logprobs.values())
    assert weighed.usage.requests >= 1


async def test_what_is_begun_follows_the_conversation_letter_for_letter(model: GuidedModel) -> None:
    messages = [Message.system("Be brief."), Message.user("Hello")]
    assert await model.chat_prompt(messages, begun="so >>>") == await model.chat_prompt(messages) + "so >>>"


# What the script promises


@given(text=st.text())
def test_spelling_loses_nothing(text: str) -> None:
    assert "".join(token.text for token in spelled(text)) == text


def test_the_tokens_that_the_model_is_unsure_of_can_be_named() -> None:
    tokens = spelled('"Paris 7"', logprob=-0.2, unsure={"Paris": -4.0})
    assert {token.text: token.logprob for token in tokens}["Paris"] == -4.0
    assert {token.text: token.logprob for token in tokens}["7"] == -0.2
    with pytest.raises(UsageError, match="name tokens of"):
        spelled("Rome", unsure={"Paris": -4.0})


@pytest.mark.parametrize(
    ("words", "grammar", "message"),
    [
        ('{"town": "Rome"}', json_schema(CITY), r'allows only \'{"\''),
        ('{"city": "Rome"', json_schema(CITY), "does not let end there"),
        ('{"city": "Rome"} ', json_schema(CITY), "allows only"),
        ("maybe", choice(["yes", "no"]), "allows only ''"),
        ("", choice(["yes"]), "does not let end there"),
    ],
)
async def test_words_that_a_constrained_model_could_not_write_are_refused(
    words: str, grammar: Grammar, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        await written(ScriptedGuidedModel(written=[words]), "?", grammar=grammar)


async def test_a_question_without_an_answer_in_the_script_is_refused() -> None:
    model = ScriptedGuidedModel(weighed=[{"a": -1.0}], written=["x"])
    with pytest.raises(UsageError, match=r"nothing about the options \['b'\]"):
        await model.weigh("?", ["a", "b"])
    with pytest.raises(UsageError, match=r"has 1 tables of likelihoods and is asked for one more.*which\?"):
        await model.weigh("which?", ["a"])
    await written(model, "?")
    with pytest.raises(UsageError, match="has 1 answers and is asked for one more"):
        await written(model, "?")


async def test_what_nobody_asked_for_is_an_error_at_the_end() -> None:
    used = ScriptedGuidedModel(written=["a", "b"])
    await written(used, "?")
    with (
        pytest.raises(UsageError, match=r"has 2 answers and only 1 were asked for. The next would have been 'b'"),
        used,
    ):
        pass
    with pytest.raises(UsageError, match="only 0 were asked for"), ScriptedGuidedModel(weighed=[{"a": 0.0}]):
        pass
    with pytest.raises(ZeroDivisionError), ScriptedGuidedModel(written=["a"]):
        _ = 1 / 0


async def test_one_table_answers_every_question() -> None:
    with ScriptedGuidedModel(weighed={"a": -1.0, "b": -2.0}) as model:
        assert (await model.weigh("?", ["a"])).logprobs == {"a": -1.0}
        assert (await model.weigh("?", ["b"])).logprobs == {"b": -2.0}
    assert [question.options for question in model.questions] == [("a",), ("b",)]


async def test_it_answers_no_messages() -> None:
    events: AsyncIterator[object] = ScriptedGuidedModel().stream(ModelRequest(messages=[Message.user("Hi")]))
    with pytest.raises(UsageError, match="Use ScriptedModel"):
        await anext(events)


async def test_an_answer_that_must_be_something_is_what_the_script_writes_and_is_held_to_it() -> None:
    output = ChoiceOutput(options=("yes", "no"))
    request = ModelRequest(messages=[Message.user("Well?")], output=output)
    *deltas, reply = [event async for event in ScriptedGuidedModel(written=["yes"]).stream(request)]
    assert isinstance(reply, ModelReply)
    assert (reply.message.text, reply.held, reply.finish) == ("yes", True, "stop")
    assert [delta.text for delta in deltas if isinstance(delta, TextDelta)] == ["yes"]
    with pytest.raises(UsageError, match="which the output does not allow"):
        async for _ in ScriptedGuidedModel(written=["perhaps"]).stream(request):
            pass
