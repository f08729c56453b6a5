"""llguidance driven directly: the tools' schemas as one union, between the marks of a call."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llguidance

from masks.samples import JsonObject, union

OPEN, CLOSE = "<tool_call>\n", "\n</tool_call>"
LAYOUT = {"whitespace_flexible": True, "whitespace_pattern": r" |\n[ \t]{0,20}"}


class Subject:
    """The engine alone."""

    package = "llguidance"

    def __init__(self, path: Path) -> None:
        self._tokenizer: Any = llguidance.LLTokenizer(path.read_text(encoding="utf-8"))
        self._marks = {mark: self._tokenizer.tokenize_str(mark)[0] for mark in ("<tool_call>", "</tool_call>")}

    def compiled(self, offered: list[JsonObject]) -> Callable[[], Text]:
        """The engine's matcher, made once and copied."""
        schema = json.dumps({**union(offered), "x-guidance": LAYOUT})
        opening, closing = (f"<[{token}]>" for token in self._marks.values())
        text = f'start: {opening} "\\n" call "\\n" {closing}\ncall: %json {schema}\n'
        limits = llguidance.LLParserLimits(
            max_items_in_row=20_000, step_max_items=2_000_000, step_lexer_fuel=100_000_000
        )
        matcher = llguidance.LLMatcher(self._tokenizer, text, log_level=0, limits=limits)
        if matcher.is_error():
            raise SystemExit(f"llguidance refused the tools: {matcher.get_error()[:300]}")
        return lambda: Text(matcher.deep_copy(), self._tokenizer.vocab_size)

    def tokenize(self, call: str) -> list[int]:
        """The call between the marks."""
        return [*self._marks.values()][:1] + self._tokenizer.tokenize_str(f"\n{call}\n") + [*self._marks.values()][1:]


class Text:
    """A text under the engine's matcher."""

    def __init__(self, matcher: Any, size: int) -> None:
        self._matcher = matcher
        self._row = bytearray(-(-size // 32) * 4)

    def mask(self) -> object:
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._row))
        self._matcher.unsafe_compute_mask_ptr(address, len(self._row))
        return self._row

    def accept(self, token: int) -> bool:
        return bool(self._matcher.consume_token(token))
