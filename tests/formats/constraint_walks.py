"""Random texts that a format's tool constraint allows, written as a model would: one allowed token after another."""

import random
import re
from collections.abc import Sequence

from format_cases import TOOLS

from wieldy.core.calls import ToolCall
from wieldy.core.messages import Message
from wieldy.formats import get
from wieldy.formats.events import ParseEvent, Reply, reply_of
from wieldy.grammar import Grammar, Matcher, Tokenizer

MOST_TOKENS = 400
"""A walk that has not ended by then only writes what may lead to an end."""


class Walk:
    """One walk under the mask.

    Args:
        hints: Texts that are tried first, so that walks come to calls and out of them again.
    """

    def __init__(self, grammar: Grammar, tokenizer: Tokenizer, hints: Sequence[str], chance: random.Random) -> None:
        self._matcher, self._tokenizer, self._chance = Matcher(grammar, tokenizer), tokenizer, chance
        self._hints = [tokens for hint in hints if (tokens := with_marks(hint, tokenizer))]
        self.tokens: list[int] = []

    def to_its_end(self) -> bool:
        """Walks on; False if no end came in sight."""
        for _ in range(3 * MOST_TOKENS):
            is_late = len(self.tokens) > MOST_TOKENS
            if self._matcher.is_accepting and self._chance.random() < (0.9 if is_late else 0.1):
                return True
            if self._chance.random() < (0.9 if is_late else 0.4) and self._take(self._chance.choice(self._hints)):
                continue
            token = self._any_allowed()
            if token is None:
                assert self._matcher.is_accepting, "nothing may follow, and the text is not complete"
                return True
            assert self._take([token])
        return False

    def _take(self, tokens: Sequence[int]) -> bool:
        if self._matcher.validate(tokens) < len(tokens):
            return False
        assert self._matcher.accept_tokens(tokens) == len(tokens)
        self.tokens += tokens
        return True

    def _any_allowed(self) -> int | None:
        mask, ends = self._matcher.fill_mask(), self._tokenizer.end_tokens
        for _ in range(20):
            token = self._chance.randrange(len(self._tokenizer))
            if mask.allows(token) and token not in ends:
                return token
        allowed = [token for token in mask.allowed if token not in ends]
        return self._chance.choice(allowed) if allowed else None


def with_marks(text: str, tokenizer: Tokenizer) -> list[int]:
    """The text as tokens, with every special token in it as such."""
    found: list[int] = []
    marks = sorted(tokenizer.special_tokens, key=len, reverse=True)
    for piece in re.split(f"({'|'.join(map(re.escape, marks))})", text):
        token = tokenizer.special_tokens.get(piece)
        found += (tokenizer.tokenize(piece.encode()) or []) if token is None else [token]
    return found


def hints_of(name: str) -> list[str]:
    """Texts that lead to calls and through them: what stands between the words that a model chooses itself."""
    write = ToolCall(id="qzi", name="write_file", arguments={"path": "qzp", "content": "qzc"})
    convert = ToolCall(id="qzi", name="convert", arguments={"text": "qzt", "count": 5, "tags": ["qza", "qzb"]})
    replies = [
        Message.assistant("qzs", [write, convert, write], reasoning="qzr"),
        Message.assistant("", [write]),
        Message.assistant("qzs", reasoning="qzr"),
    ]
    written = [get(name).render_reply(reply, TOOLS) for reply in replies]
    pieces = [piece for text in written for piece in re.split("qz[a-z]", text)]
    pieces += [part for piece in pieces for part in re.split("(write_file|convert)", piece)]
    return [piece for piece in dict.fromkeys(pieces) if piece.strip()] + [*"\"'}])>\n5a", '"}', "/>", "list_files"]


def with_the_marks_of(name: str, tokenizer: Tokenizer) -> Tokenizer:
    """The vocabulary, in which every mark of the format is a special token."""
    tokens, special = list(tokenizer.tokens), dict(tokenizer.special_tokens)
    for mark in get(name).marks:
        if mark not in special:
            special[mark] = len(tokens)
            tokens.append(mark.encode())
    return Tokenizer(tokens, end_token=tokenizer.end_tokens, special_tokens=special)


def read(name: str, tokens: Sequence[int], tokenizer: Tokenizer, prompt: str) -> tuple[str, Reply]:
    """The text of the tokens, and what the parser reads in it, fed token by token."""
    chat = get(name)
    marks = chat.special_tokens_of(tokenizer.special_tokens)
    parser = chat.parser(TOOLS, prompt=prompt, special_tokens=marks)
    events: list[ParseEvent] = []
    text, pending = "", b""
    for token in tokens:
        pending += tokenizer.tokens[token]
        piece = pending.decode("utf-8", "ignore")
        if piece.encode() == pending:  # a token may end within a character
            text, pending = text + piece, b""
            events += parser.feed(piece, is_token=token in tokenizer.special_ids)
    assert not pending
    return text, reply_of([*events, *parser.close()])
