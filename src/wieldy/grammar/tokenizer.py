"""Vocabularies: the bytes of every token, which tokens are special, and which end an answer.

A special token is a mark and never part of a text: a grammar has it by its id only, however its letters read.
Law: whatever `tokenize` gives spells the text and has no special token in it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from types import MappingProxyType
from typing import Any

from wieldy.core.errors import GrammarError
from wieldy.grammar.arguments import check_text, shown, special_ids, token_ids, wrong
from wieldy.grammar.engine import Start, llguidance
from wieldy.grammar.vocabularies import TokenNames, gguf_ends, gguf_tokens, ids_of, json_vocabulary

_KEPT_STARTS = 32
"""So many grammars per vocabulary are kept as the engine compiled them."""
_COMPLETE = b"<|complete|>"


class Tokenizer:
    """A vocabulary.

    The engine knows one token more, which means "complete" (`complete_token`), and takes it for the only one that ends
    an answer: it refuses a token that ends answers where a grammar has it by its id, but families close calls so.

    Args:
        tokens: The bytes of token 0, 1, 2, ...
        end_token: The token that ends an answer, or several, by id or by text; they are special.
        special_tokens: The other special tokens by their text.
        tokenize: How the model itself cuts a text into these tokens, which must not raise; if it is not known, the
            longest token goes first.
        engine: The engine's tokenizer of these tokens and the one more, if it was made already.

    Raises:
        GrammarError: A token is not in the vocabulary, or the engine is not installed.
    """

    def __init__(
        self,
        tokens: Sequence[bytes],
        *,
        end_token: TokenNames,
        special_tokens: Mapping[str, int] | None = None,
        tokenize: Callable[[bytes], Sequence[int]] | None = None,
        engine: Any = None,
    ) -> None:
        self.tokens = _bytes_of(tokens)
        if tokenize is not None and not callable(tokenize):
            raise wrong("a function that cuts bytes into tokens", tokenize)
        named = special_ids(special_tokens)
        self.end_tokens = ids_of(end_token, named, len(self.tokens))
        if not self.end_tokens:
            raise GrammarError("A vocabulary needs a token that ends an answer: name it in `end_token`.")
        for end in set(self.end_tokens) - set(named.values()):
            named[self.tokens[end].decode("utf-8", "replace")] = end
        ids_of(named.values(), named, len(self.tokens))
        self.special_tokens: Mapping[str, int] = MappingProxyType(named)
        self.special_ids = frozenset(named.values())
        self.complete_token = len(self.tokens)
        self.mask_bytes = -(-(len(self.tokens) + 1) // 32) * 4
        """The size of a mask as the engine writes it, with the token that only it knows."""
        self.engine: Any = engine or _engine_of(self.tokens, self.special_ids, tokenize)
        self._starts = lru_cache(maxsize=_KEPT_STARTS)(partial(Start, self.engine))

    @classmethod
    def of_bytes(cls) -> Tokenizer:
        """One token per byte, and token 256 to end: for tests and for checking texts."""
        return cls([*(bytes([value]) for value in range(256)), b"<|end|>"], end_token=256)

    @classmethod
    def of_gguf(
        cls,
        metadata: Mapping[str, Any],
        *,
        end_token: TokenNames | None = None,
        tokenize: Callable[[bytes], Sequence[int]] | None = None,
    ) -> Tokenizer:
        """The vocabulary in a GGUF file's metadata (`tokenizer.ggml.*`).

        Control tokens are special, and so are user-defined ones that look like `<...>`.

        Args:
            metadata: The key-value pairs of the file's header, as `connect.models.gguf.read_metadata` gives them.
            end_token: The tokens that end an answer, by id or by text; None for those that the file names.
            tokenize: How the model itself cuts a text.

        Raises:
            GrammarError: There is no vocabulary, or one of a kind that is not known.
        """
        if not isinstance(metadata, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise wrong("the metadata of a GGUF file by their keys", metadata)
        tokens, special = gguf_tokens(metadata)
        ends = gguf_ends(metadata) if end_token is None else end_token
        return cls(tokens, end_token=ends, special_tokens=special, tokenize=tokenize)

    @classmethod
    def of_json(cls, text: str, *, end_token: TokenNames) -> Tokenizer:
        """The vocabulary in the text of a `tokenizer.json`; it cuts texts as its model does.

        Args:
            text: The content of the file.
            end_token: The tokens that end an answer, by id or by text: another file of the model names them
                (`eos_token_id` in `generation_config.json`).

        Raises:
            GrammarError: The engine cannot read the text, or an end token is not in the vocabulary.

        Cost: about a second for 150,000 tokens.
        """
        check_text("the content of a tokenizer.json", text)
        found = json_vocabulary(text, end_token)
        try:
            engine: Any = llguidance().LLTokenizer(found.text, eos_token=found.size)
        except ValueError as error:
            raise GrammarError(f"The engine cannot read this tokenizer.json: {error}") from None
        tokens: list[bytes] = [engine.decode_bytes([token]) for token in range(found.size)]
        for name, token in found.special.items():
            tokens[token] = name.encode()
        ends = ids_of(end_token, found.named, found.size)
        return cls(tokens, end_token=ends, special_tokens=found.special, engine=engine)

    @classmethod
    def of_transformers(cls, tokenizer: Any, *, end_token: TokenNames | None = None) -> Tokenizer:
        """The vocabulary of a fast tokenizer of the transformers library.

        Args:
            tokenizer: A `PreTrainedTokenizerFast`.
            end_token: The tokens that end an answer; None for the tokenizer's own. A model's `generation_config` may
                name more.

        Raises:
            GrammarError: It is no fast tokenizer, or names no end token.
        """
        backend = getattr(tokenizer, "backend_tokenizer", None)
        if backend is None:
            raise GrammarError(f"Expected a fast tokenizer, which has a `backend_tokenizer`, found {shown(tokenizer)}.")
        own = tokenizer.eos_token_id
        return cls.of_json(backend.to_str(), end_token=([] if own is None else own) if end_token is None else end_token)

    def __len__(self) -> int:
        """How many tokens there are."""
        return len(self.tokens)

    @property
    def end_token(self) -> int:
        """The first of the tokens that end an answer."""
        return self.end_tokens[0]

    @cached_property
    def digest(self) -> str:
        """The same for the same vocabulary, in any process."""
        found = hashlib.sha256()
        for token in self.tokens:
            found.update(len(token).to_bytes(4, "little") + token)
        found.update(repr((self.end_tokens, sorted(self.special_tokens.items()))).encode())
        return found.hexdigest()

    def tokenize(self, text: bytes) -> list[int] | None:
        """Tokens that spell the text, as the model cuts it where that is known; None if none do."""
        if not isinstance(text, bytes):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise wrong("a text as bytes", text)
        for cut in (self.engine.tokenize_bytes, self._longest_first):
            tokens: list[int] = cut(text)
            if self.spells(tokens, text):
                return tokens
        return None

    def spells(self, tokens: Sequence[int], text: bytes) -> bool:
        """Whether these tokens are the text, letter for letter: none of them is special."""
        tokens = token_ids(tokens)
        if not all(0 <= token < len(self.tokens) for token in tokens):
            return False
        return b"".join(self.tokens[token] for token in tokens) == text and self.special_ids.isdisjoint(tokens)

    def _longest_first(self, text: bytes) -> list[int]:
        return self.engine.greedy_tokenize(text.decode("utf-8", "replace"))

    def started(self, grammar: str) -> Start:
        """The beginning of a grammar's text, compiled once."""
        return self._starts(grammar)

    def forget_starts(self) -> None:
        """Grammars are compiled again: one of those that were has given up, and all of its copies with it."""
        self._starts.cache_clear()


def _bytes_of(tokens: Sequence[bytes]) -> tuple[bytes, ...]:
    is_several = isinstance(tokens, Iterable) and not isinstance(tokens, str | bytes)  # pyright: ignore[reportUnnecessaryIsInstance]
    found = tuple(tokens) if is_several else ()
    if not found or not all(isinstance(token, bytes) for token in found):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong("the bytes of every token, of at least one", tokens)
    return found


def _engine_of(
    tokens: tuple[bytes, ...], special: frozenset[int], tokenize: Callable[[bytes], Sequence[int]] | None
) -> Any:
    engine = llguidance()
    wrapped = _Wrapped((*tokens, _COMPLETE), special, tokenize)
    wrapped.engine = engine.LLTokenizer(engine.TokenizerWrapper(wrapped))
    return wrapped.engine


class _Wrapped:
    """The shape in which the engine takes a vocabulary: attributes, and a call that cuts a text."""

    def __init__(
        self, tokens: tuple[bytes, ...], special: frozenset[int], tokenize: Callable[[bytes], Sequence[int]] | None
    ) -> None:
        self.tokens = tokens
        self.eos_token_id = len(tokens) - 1
        self.bos_token_id = None
        self.special_token_ids = [*sorted(special), self.eos_token_id]
        self.engine: Any = None
        self._special = frozenset(self.special_token_ids)
        self._tokenize = tokenize

    def __call__(self, text: bytes) -> list[int]:
        """The tokens of a valid text; the longest first, and bytes without a token left out, if need be."""
        if self.engine is None:
            return []  # asked to see whether bytes are taken
        tokens = list(self._tokenize(text)) if self._tokenize else []
        if tokens and self._special.isdisjoint(tokens) and b"".join(self.tokens[token] for token in tokens) == text:
            return tokens
        return self.engine.greedy_tokenize(text.decode())
