"""Which tokens are learned from: those that the model itself wrote, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.core.calls import ToolCall, ToolDefinition, ToolResult
from wieldy.core.errors import UsageError
from wieldy.core.messages import Message
from wieldy.evals.export.row import Row
from wieldy.evals.export.tokens import IGNORED, TokenColumns
from wieldy.formats import get

tokenizers = pytest.importorskip("tokenizers")

TOOL = ToolDefinition(
    name="look",
    description="ЖЖ Ж",
    input_schema={"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
)
FORMATS = {"hermes": "<|im_end|>", "mistral-v13": "</s>", "deepseek-v3.1": "<｜end▁of▁sentence｜>"}

own = st.text("ab \n.é🤷", min_size=1, max_size=12).filter(lambda text: bool(text.strip()) and text == text.strip())
foreign = st.text("ЖФЯ \n", max_size=12)


@st.composite
def conversations(draw: st.DrawFn) -> tuple[list[Message], list[bool]]:
    messages, train = [Message.system(draw(foreign)), Message.user(draw(foreign))], [False, False]
    for number in range(draw(st.integers(0, 3))):
        made = ToolCall(id=f"call{number:05}", name="look", arguments={"place": draw(own)})
        messages += [
            Message.assistant("", [made]),
            Message.tool(ToolResult(tool_call_id=made.id, content=draw(foreign))),
        ]
        train += [draw(st.booleans()), False]
    return [*messages, Message.assistant(draw(own))], [*train, True]


def row_of(messages: list[Message], train: list[bool]) -> Row:
    untrained = [
        None if learned else ("invalid_call" if message.role == "assistant" else "given")
        for message, learned in zip(messages, train, strict=True)
    ]
    nothing: dict[str, Any] = dict.fromkeys(
        ("group_id", "trial", "reward", "advantage", "harness_version", "stop_reason", "failure_layer", "license")
    )
    return Row(
        id="r",
        task_id="t",
        source=tuple(messages),
        definitions=(TOOL,),
        train=tuple(train),
        untrained=tuple(untrained),
        rewards={},
        split="train",
        model="m",
        verdict=None,
        configuration=None,
        runs=("r",),
        parent=None,
        **nothing,
    )


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small one that cuts bytes into pieces, in which pieces of markup and of words have grown together."""
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    made.post_processor = tokenizers.processors.ByteLevel(trim_offsets=True)
    texts = [get(name).render([Message.user("Ж a"), Message.assistant("a b\n\nab")], [TOOL]) for name in FORMATS]
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=["<|im_start|>", *FORMATS.values()],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(texts * 3, trainer)
    file = tmp_path_factory.mktemp("vocabulary") / "tokenizer.json"
    made.save(str(file))
    return file


@pytest.fixture(scope="module")
def columns(vocabulary: Path) -> dict[str, TokenColumns]:
    return {name: TokenColumns(get(name), vocabulary) for name in FORMATS}


def sizes(known: Any, ids: list[int]) -> list[int]:
    """How many bytes each token spells: one for each letter of a token, and its own letters for a special one."""
    special = {token: len(added.content.encode()) for token, added in known.get_added_tokens_decoder().items()}
    return [special.get(token) or len(known.id_to_token(token)) for token in ids]


@given(conversations(), st.sampled_from(sorted(FORMATS)))
def test_a_token_is_learned_from_if_and_only_if_the_model_wrote_all_of_it(
    vocabulary: Path, columns: dict[str, TokenColumns], made: tuple[list[Message], list[bool]], name: str
) -> None:
    (messages, train), writes = made, get(name)
    found = columns[name].of(row_of(messages, train))
    known = tokenizers.Tokenizer.from_file(str(vocabulary))
    ids, mask, text = found["input_ids"], found["assistant_masks"], writes.render(messages, [TOOL])
    assert ids == known.encode(text, add_special_tokens=False).ids
    owned = set[int]()
    for at, learned in enumerate(train):
        if learned:
            before = writes.render(messages[:at], [TOOL], generation_prompt=True)
            wrote = writes.render_reply(messages[at], [TOOL]) + FORMATS[name]
            assert text[len(before) :].startswith(wrote)
            start = len(before.encode())
            owned |= {*range(start, start + len(wrote.encode()))}
    ends = [0, *accumulate(sizes(known, ids))]
    assert ends[-1] == len(text.encode())
    assert mask == [int(owned.issuperset(range(*piece))) for piece in pairwise(ends)]
    learned = known.decode([token for token, own in zip(ids, mask, strict=True) if own], skip_special_tokens=False)
    assert not set("ЖФЯ") & set(learned)
    assert found["labels"] == [token if own else IGNORED for token, own in zip(ids, mask, strict=True)]
    assert all(within >= own for within, own in zip(found["completion_mask"], mask, strict=True))
    assert found["tokens_exact"] is False


def test_control_tokens_that_were_taken_apart_are_not_learned_from(columns: dict[str, TokenColumns]) -> None:
    messages = [Message.user("Ж"), Message.assistant("a <|im_end|> b"), Message.user("Ж"), Message.assistant("ab")]
    found = columns["hermes"].of(row_of(messages, [False, True, False, True]))
    assert 0 < sum(found["assistant_masks"]) < 5
    with pytest.raises(UsageError, match="No token"):
        columns["hermes"].of(row_of(messages[:2], [False, True]))


def test_arguments_that_the_format_writes_in_another_order_are_not_learned_from(
    columns: dict[str, TokenColumns],
) -> None:
    schema: Any = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    learned = dict[str, int]()
    for order in ("ab", "ba"):
        made = ToolCall(id="call00000", name="look", arguments=dict.fromkeys(order, "x"))
        row = row_of([Message.user("Ж"), Message.assistant("", [made])], [False, True])
        row = replace(row, definitions=(replace(TOOL, input_schema=schema),))
        try:
            learned[order] = sum(columns["hermes"].of(row)["assistant_masks"])
        except UsageError:
            learned[order] = 0
    assert learned["ab"] > 0 == learned["ba"]


def test_what_is_no_vocabulary_is_told(tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.json"
    file.write_text("{}")
    with pytest.raises(UsageError, match=r"expected a tokenizer\.json"):
        TokenColumns(get("hermes"), file)
