"""xgrammar: the tools' schemas as one union, compiled without its cache, on one thread."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import xgrammar
from transformers import PreTrainedTokenizerFast

from masks.samples import JsonObject, union


class Subject:
    """xgrammar."""

    package = "xgrammar"

    def __init__(self, path: Path) -> None:
        self._tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(path))
        self._info = xgrammar.TokenizerInfo.from_huggingface(self._tokenizer, vocab_size=len(self._tokenizer))

    def compiled(self, offered: list[JsonObject]) -> Callable[[], Text]:
        """The compiled grammar."""
        compiler = xgrammar.GrammarCompiler(self._info, max_threads=1, cache_enabled=False)
        compiled = compiler.compile_json_schema(union(offered), strict_mode=False)
        return lambda: Text(xgrammar.GrammarMatcher(compiled), self._info.vocab_size)

    def tokenize(self, call: str) -> list[int]:
        """The call: a structural tag around it would be another feature."""
        return self._tokenizer.encode(call, add_special_tokens=False)


class Text:
    """A text under xgrammar's matcher."""

    def __init__(self, matcher: Any, size: int) -> None:
        self._matcher = matcher
        self._row = xgrammar.allocate_token_bitmask(1, size)

    def mask(self) -> object:
        self._matcher.fill_next_token_bitmask(self._row, 0)
        return self._row

    def accept(self, token: int) -> bool:
        return bool(self._matcher.accept_token(token))
