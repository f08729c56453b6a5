"""Every text that a tool constraint allows is read into calls of the tools on offer, with fitting arguments."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from constraint_walks import TOOLS, Walk, hints_of, read, with_the_marks_of
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from wieldy.connect.models.gguf import read_metadata
from wieldy.core.calls import ToolCall, ToolChoice
from wieldy.formats import get, names
from wieldy.grammar import Grammar, Tokenizer
from wieldy.schema import CompiledSchema

BYTES = Tokenizer.of_bytes()
SCHEMAS = {tool["function"]["name"]: CompiledSchema(tool["function"]["parameters"]) for tool in TOOLS}
CHOICES = [
    ToolChoice(mode="auto"),
    ToolChoice(mode="required"),
    ToolChoice(mode="none"),
    ToolChoice(mode="tool", name="convert"),
]
every_format = pytest.mark.parametrize("name", names())
cases = {
    "seed": st.integers(0, 2**32 - 1),
    "choice": st.sampled_from(CHOICES),
    "at_most": st.sampled_from([None, 1, 2]),
    "is_thinking": st.booleans(),
}


def check(
    name: str,
    tokenizer: Tokenizer,
    grammars: dict[tuple[object, ...], Grammar],
    *,
    seed: int,
    choice: ToolChoice,
    at_most: int | None,
    is_thinking: bool,
) -> None:
    """One random text under the mask is read as the choice says."""
    chat = get(name)
    region = getattr(chat.wire, "reasoning", None)
    prompt = region.opening if region and is_thinking else ""
    key = (choice, at_most, prompt)
    if key not in grammars:
        grammars[key] = chat.grammar(TOOLS, tool_choice=choice, at_most=at_most, prompt=prompt, tokenizer=tokenizer)
    walk = Walk(grammars[key], tokenizer, hints_of(name), random.Random(seed))
    assume(walk.to_its_end())

    text, reply = read(name, walk.tokens, tokenizer, prompt)

    assert reply.problems == (), text
    for call in reply.calls:
        assert isinstance(call, ToolCall), (call, text)
        assert not list(SCHEMAS[call.name].violations(call.arguments)), (call, text)
    called = [call.name for call in reply.calls]
    assert len(called) <= (0 if choice.mode == "none" else at_most or len(called)), text
    assert len(called) >= (choice.mode in ("required", "tool")), text
    assert choice.mode != "tool" or set(called) == {"convert"}, text


@every_format
@settings(max_examples=15, deadline=None)
@given(**cases)
def test_what_the_mask_allows_letter_by_letter_is_read_into_fitting_calls(
    name: str, seed: int, choice: ToolChoice, at_most: int | None, is_thinking: bool
) -> None:
    check(
        name, BYTES, BY_LETTER.setdefault(name, {}), seed=seed, choice=choice, at_most=at_most, is_thinking=is_thinking
    )


@pytest.fixture
def marked(smallest_model: Path) -> Callable[[str], Tokenizer]:
    """A real model's vocabulary, in which a format's marks are special tokens."""
    if smallest_model not in REAL:
        REAL[smallest_model] = Tokenizer.of_gguf(read_metadata(smallest_model))
    return lambda name: with_the_marks_of(name, REAL[smallest_model])


@every_format
def test_what_the_mask_allows_in_real_tokens_is_read_into_fitting_calls(
    name: str, marked: Callable[[str], Tokenizer]
) -> None:
    tokenizer, grammars = marked(name), dict[tuple[object, ...], Grammar]()

    @settings(max_examples=5, deadline=None)
    @given(**cases)
    def law(seed: int, choice: ToolChoice, at_most: int | None, is_thinking: bool) -> None:
        check(name, tokenizer, grammars, seed=seed, choice=choice, at_most=at_most, is_thinking=is_thinking)

    law()


BY_LETTER: dict[str, dict[tuple[object, ...], Grammar]] = {}
REAL: dict[Path, Tokenizer] = {}
