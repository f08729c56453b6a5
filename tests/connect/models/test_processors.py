"""Constraints within `generate`, with a tiny real model; with numpy's arrays, without one."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))  # the tests have no packages
from tiny_transformers import Tiny, tiny

from wieldy.connect.models.processors import ConstraintProcessor, NumpyProcessor
from wieldy.core.errors import BudgetError, GrammarError, UsageError
from wieldy.grammar import Grammar, choice, json_schema, lark, minimum_tokens, regex
from wieldy.schema import CompiledSchema

numpy = pytest.importorskip("numpy", reason="numpy is not installed: pip install 'wieldy[transformers]'")
torch: Any = pytest.importorskip("torch", reason="torch is not installed: pip install 'wieldy[transformers]'")
pytest.importorskip("transformers", reason="transformers is not installed: pip install 'wieldy[transformers]'")

INVOICE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "to": {"type": "string"},
        "total": {"type": "integer", "minimum": 0, "maximum": 9999},
        "kind": {"enum": ["paid", "open"]},
        "lines": {"type": "array", "items": {"type": "string", "maxLength": 9}, "minItems": 1, "maxItems": 3},
    },
    "required": ["to", "total", "kind", "lines"],
    "additionalProperties": False,
}
FITS = CompiledSchema(INVOICE)
GRAMMAR = json_schema(INVOICE)
COLOUR = choice(["red", "green", "blue"])
PROMPTS = ["Write an invoice.", "x", "the city Paris, the city Paris", '{"name": "Paris']
SAMPLED = {"do_sample": True, "temperature": 1.5, "top_k": 0}


@pytest.fixture(scope="module")
def small() -> Tiny:
    return tiny()


def generated(small: Tiny, processor: ConstraintProcessor, prompts: list[str], **options: Any) -> list[list[int]]:
    """What was written for each row, without what pads it."""
    inputs = small.tokenizer(prompts, return_tensors="pt", padding=True)
    settings_ = {"max_new_tokens": processor.max_new_tokens, "do_sample": False} | options
    with torch.no_grad():
        output = small.model.generate(**inputs, logits_processor=[processor], **settings_)
    processor.follow(output)
    rows = output[:, inputs["input_ids"].shape[1] :].tolist()
    return [[token for token in row if token != small.tokenizer.pad_token_id] for row in rows]


def text_of(small: Tiny, tokens: list[int]) -> str:
    ends = small.vocabulary.end_tokens
    return b"".join(small.vocabulary.tokens[token] for token in tokens if token not in ends).decode()


def fits(text: str) -> bool:
    return not list(FITS.violations(json.loads(text)))


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 1000),
    more=st.integers(0, 60),
    count=st.integers(1, 4),
    samples=st.booleans(),
)
def test_every_row_is_whole_at_every_budget_however_it_is_chosen(
    small: Tiny, seed: int, more: int, count: int, samples: bool
) -> None:
    budget = minimum_tokens(GRAMMAR, small.vocabulary) + more
    processor = ConstraintProcessor(GRAMMAR, small.vocabulary, max_tokens=budget)
    torch.manual_seed(seed)
    rows = generated(small, processor, PROMPTS[:count], **(SAMPLED if samples else {}))

    for tokens, row in zip(rows, processor.rows, strict=True):
        assert fits(text_of(small, tokens))
        assert len([token for token in tokens if token not in small.vocabulary.end_tokens]) <= budget
        assert row is not None
        assert row.is_complete
        assert row.guard is not None
        assert bool(row.guard.forced) == row.guard.closed_by_budget


def test_each_prompt_has_its_own_grammar_and_budget_and_one_may_be_free(small: Tiny) -> None:
    grammars = [COLOUR, None, GRAMMAR, regex("[0-9]{3}")]
    least = minimum_tokens(GRAMMAR, small.vocabulary)
    processor = ConstraintProcessor(grammars, small.vocabulary, max_tokens=[9, 9, least, 3])
    rows = generated(small, processor, PROMPTS, max_new_tokens=least + 1)
    assert text_of(small, rows[0]) in ("red", "green", "blue")
    assert fits(text_of(small, rows[2]))
    assert text_of(small, rows[3]).isdigit()
    assert processor.rows[1] is None
    assert processor.max_new_tokens == least + 1


def test_several_sequences_of_a_prompt_have_its_grammar_each(small: Tiny) -> None:
    processor = ConstraintProcessor([COLOUR, regex("[a-z]{4}")], small.vocabulary, max_tokens=8)
    torch.manual_seed(1)
    rows = generated(small, processor, PROMPTS[:2], num_return_sequences=3, **SAMPLED)
    texts = [text_of(small, tokens) for tokens in rows]
    assert all(text in ("red", "green", "blue") for text in texts[:3])
    assert all(len(text) == 4 for text in texts[3:])


@pytest.mark.parametrize("samples", [False, True])
def test_beams_are_refused_in_words_before_anything_is_chosen(small: Tiny, samples: bool) -> None:
    processor = ConstraintProcessor(GRAMMAR, small.vocabulary, max_tokens=99)
    with pytest.raises(UsageError, match="num_beams=1"):
        generated(small, processor, PROMPTS[:1], num_beams=2, **(SAMPLED if samples else {}))


def test_assisted_generation_goes_back_and_forth_and_ends_in_whole_texts(small: Tiny) -> None:
    other = tiny(seed=7)
    budget = minimum_tokens(GRAMMAR, small.vocabulary) + 20
    processor = ConstraintProcessor(GRAMMAR, small.vocabulary, max_tokens=budget)
    (assisted,) = generated(small, processor, PROMPTS[:1], assistant_model=other.model)
    (alone,) = generated(small, ConstraintProcessor(GRAMMAR, small.vocabulary, max_tokens=budget), PROMPTS[:1])
    assert text_of(small, assisted) == text_of(small, alone)


def test_a_processor_serves_one_call_after_another(small: Tiny) -> None:
    processor = ConstraintProcessor(COLOUR, small.vocabulary, max_tokens=9)
    first = generated(small, processor, PROMPTS[:1])
    second = generated(small, processor, PROMPTS[:3])
    assert generated(small, processor, PROMPTS[:1]) == first
    assert len(second) == 3


def test_greedily_the_likeliest_token_is_taken_that_leaves_room(small: Tiny) -> None:
    budget = minimum_tokens(GRAMMAR, small.vocabulary) + 5
    processor = ConstraintProcessor(GRAMMAR, small.vocabulary, max_tokens=budget)
    (tokens,) = generated(small, processor, PROMPTS[:1])
    reference = ConstraintProcessor(GRAMMAR, small.vocabulary, max_tokens=budget)
    ids = small.tokenizer(PROMPTS[:1], return_tensors="pt")["input_ids"]
    for token in tokens:
        with torch.no_grad():
            scores = small.model(ids).logits[:, -1].float()
        kept = reference(ids, scores)[0]
        assert int(kept.argmax()) == token
        row = reference.rows[0]
        assert row is not None
        assert row.guard is not None
        # No token that is likelier and allowed by the grammar would have left room.
        likelier = [
            other for other in scores[0].argsort(descending=True).tolist() if scores[0][other] > scores[0][token]
        ]
        mask = row.guard.fill_mask()
        assert not any(mask.allows(other) and row.guard.allows(other) for other in likelier[:40])
        ids = torch.cat([ids, torch.tensor([[token]])], dim=1)


def test_tokens_beyond_the_vocabulary_are_never_written(small: Tiny) -> None:
    processor = ConstraintProcessor(GRAMMAR, small.vocabulary, max_tokens=200)
    ids = small.tokenizer(PROMPTS[:1], return_tensors="pt")["input_ids"]
    scores = torch.full((1, small.model.config.vocab_size), -5.0)
    scores[:, len(small.vocabulary) :] = 50.0
    kept = processor(ids, scores)
    assert torch.isneginf(kept[:, len(small.vocabulary) :]).all()
    assert torch.isfinite(kept).any()


def test_fewer_scores_than_tokens_are_taken(small: Tiny) -> None:
    processor = ConstraintProcessor(COLOUR, small.vocabulary, max_tokens=9)
    kept = processor(torch.tensor([[1, 2]]), torch.zeros((1, 200)))
    assert kept.shape == (1, 200)
    assert torch.isfinite(kept).any()


def test_what_must_be_written_is_written_also_where_another_processor_forbids_it(small: Tiny) -> None:
    processor = ConstraintProcessor(COLOUR, small.vocabulary, max_tokens=9)
    kept = processor(torch.tensor([[1, 2]]), torch.full((1, 300), -torch.inf))
    assert (kept == 0).any()


def test_what_cannot_be_is_said_before_anything_is_generated(small: Tiny) -> None:
    least = minimum_tokens(GRAMMAR, small.vocabulary)
    with pytest.raises(BudgetError) as caught:
        ConstraintProcessor([COLOUR, GRAMMAR], small.vocabulary, max_tokens=least - 1)
    assert caught.value.minimum == least
    with pytest.raises(UsageError, match="one for each of 2 grammars; found 3"):
        ConstraintProcessor([COLOUR, COLOUR], small.vocabulary, max_tokens=[9, 9, 9])
    with pytest.raises(UsageError, match="each of 3 rows, or one for all; found 2"):
        generated(small, ConstraintProcessor([COLOUR, COLOUR], small.vocabulary, max_tokens=9), PROMPTS[:3])


def opaque(grammar: Grammar) -> Grammar:
    return Grammar(lark=grammar.lark)


def test_a_grammar_without_a_budget_is_enforced_and_may_be_cut(small: Tiny) -> None:
    with pytest.raises(GrammarError):
        ConstraintProcessor(opaque(GRAMMAR), small.vocabulary, max_tokens=99)
    processor = ConstraintProcessor(opaque(COLOUR), small.vocabulary)
    assert processor.max_new_tokens is None
    (tokens,) = generated(small, processor, PROMPTS[:1], max_new_tokens=9)
    assert text_of(small, tokens) in ("red", "green", "blue")
    assert lark('start: "a"').lark


# Numpy's arrays


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), more=st.integers(0, 40))
def test_a_text_that_is_chosen_from_arrays_is_whole_at_every_budget(small: Tiny, seed: int, more: int) -> None:
    budget = minimum_tokens(GRAMMAR, small.vocabulary) + more
    processor = NumpyProcessor(GRAMMAR, small.vocabulary, max_tokens=budget)
    chance = numpy.random.default_rng(seed)
    prompt, written = [5, 6, 7], list[int]()
    for _ in range(budget + 1):
        scores = chance.normal(size=len(small.vocabulary) + 7, scale=3).astype(numpy.float32)
        kept = processor(numpy.array(prompt + written), scores)
        token = int(numpy.argmax(kept))
        assert numpy.isfinite(kept[token])
        if token in small.vocabulary.end_tokens:
            break
        written.append(token)
    assert fits(text_of(small, written))
    assert kept.dtype == numpy.float32


def test_a_new_prompt_begins_anew(small: Tiny) -> None:
    processor = NumpyProcessor(COLOUR, small.vocabulary, max_tokens=9)
    scores = numpy.zeros(len(small.vocabulary), dtype=numpy.float32)
    first = processor(numpy.array([1, 2]), scores)
    red = small.vocabulary.tokenize(b"red")
    assert red is not None
    processor(numpy.array([1, 2, red[0]]), scores)
    assert (processor(numpy.array([3]), scores) == first).all()
    assert (processor(numpy.array([1, 2]), scores) == first).all()
