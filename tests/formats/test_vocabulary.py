"""Grammars and parsers over the vocabulary of a real model, whose tokens reach over the edges of marks and values."""

from pathlib import Path

import pytest
from format_cases import TOOLS

from wieldy.connect.models.gguf import read_metadata
from wieldy.core.calls import ToolCall
from wieldy.core.messages import Message
from wieldy.formats import get, names
from wieldy.grammar import Matcher, Tokenizer

CONTENT = 'def f():\n    return {"a": [1, "é"], \'b\': None}  # <x> & 日本 😀\n'
MESSAGE = Message.assistant(
    calls=[
        ToolCall(id="call_0", name="write_file", arguments={"path": "a/b.py", "content": CONTENT}),
    ]
)


@pytest.fixture
def vocabulary(smallest_model: Path, known: dict[Path, Tokenizer] = {}) -> Tokenizer:  # noqa: B006  (read once)
    if smallest_model not in known:
        known[smallest_model] = Tokenizer.of_gguf(read_metadata(smallest_model))
    return known[smallest_model]


@pytest.mark.parametrize("name", names())
def test_the_grammar_accepts_a_rendering_token_by_token_and_the_parser_reads_it(
    name: str, vocabulary: Tokenizer
) -> None:
    text = get(name).render_reply(MESSAGE, TOOLS)
    tokens = vocabulary.tokenize(text.encode())
    assert tokens is not None

    matcher = Matcher(get(name).grammar(TOOLS), vocabulary)
    parser, events, pending = get(name).parser(TOOLS), [], b""
    for token in tokens:
        assert matcher.fill_mask().allows(token)
        assert matcher.accept_token(token)
        pending += vocabulary.tokens[token]
        piece = pending.decode("utf-8", "ignore")
        if piece.encode() == pending:  # a token may end within a character
            events += parser.feed(piece)
            pending = b""
    events += parser.close()

    assert matcher.is_accepting
    assert [event.arguments for event in events if isinstance(event, ToolCall)] == [
        call.arguments for call in MESSAGE.calls if isinstance(call, ToolCall)
    ]
