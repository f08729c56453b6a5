"""What a stream of the suite is cut into: tokens of the model's own tokenizer, or units that stand for tokens.

The suite never cuts within a token. Its fixtures have token ids, whose texts only the models' tokenizers know, and
those may be out of reach. Then the family's markers are one unit each, as they are one token each or nearly so, and all
other text is cut into words, numbers, spaces and signs, which is about where tokenizers cut it.
"""

import re
from collections.abc import Collection, Sequence
from functools import cache
from typing import Any, Protocol

from canitoolcall.adapters.base import ReplayInput
from canitoolcall.fixtures import load_family

REPLACEMENT = "\ufffd"


class Units(Protocol):
    """How texts become units and units become texts."""

    kind: str

    def ids(self, raw: ReplayInput) -> list[int]:
        """The units of a whole output."""
        ...

    def texts(self, groups: Sequence[Sequence[int]]) -> list[str]:
        """The text that each group adds."""
        ...

    def special(self) -> Collection[int]:
        """The units that are special tokens."""
        ...


class StandIns:
    """Units that stand for tokens, for one family."""

    kind = "stand-ins: the family's markers, words, numbers, spaces and signs"

    def __init__(self, family: str) -> None:
        self._markers = sorted(load_family(family).markers, key=len, reverse=True)
        marked = "|".join(map(re.escape, self._markers)) or r"(?!)"
        self._unit = re.compile(rf"{marked}| ?[^\W\d_]+|\d{{1,3}}|[ \t]+|\n+|.", re.DOTALL)
        self._ids: dict[str, int] = {marker: number for number, marker in enumerate(self._markers)}
        self._texts = list(self._markers)

    def ids(self, raw: ReplayInput) -> list[int]:
        """The units of a whole output."""
        return [self._id(text) for text in self._unit.findall(raw.text)]

    def texts(self, groups: Sequence[Sequence[int]]) -> list[str]:
        """The text of each group."""
        return ["".join(self._texts[unit] for unit in group) for group in groups]

    def special(self) -> Collection[int]:
        """The markers."""
        return range(len(self._markers))

    def _id(self, text: str) -> int:
        if text not in self._ids:
            self._ids[text] = len(self._texts)
            self._texts.append(text)
        return self._ids[text]


class Tokens:
    """Tokens of the model's own tokenizer."""

    kind = "tokens"

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    def ids(self, raw: ReplayInput) -> list[int]:
        """The fixture's token ids, or those of its text."""
        if raw.token_ids is not None:
            return list(raw.token_ids)
        return self._tokenizer.encode(raw.text, add_special_tokens=False).ids

    def texts(self, groups: Sequence[Sequence[int]]) -> list[str]:
        """The text that each group adds; characters whose bytes are not all there wait for the next group."""
        taken: list[int] = []
        given, texts = "", []
        for number, group in enumerate(groups, start=1):
            taken += group
            text = self._tokenizer.decode(taken, skip_special_tokens=False)
            whole = text if number == len(groups) else text.rstrip(REPLACEMENT)
            texts.append(whole[len(given) :])
            given = whole
        return texts

    def special(self) -> Collection[int]:
        """The tokens that were added to the vocabulary."""
        return self._tokenizer.get_added_tokens_decoder().keys()


@cache
def units_for(family: str, repository: str, revision: str | None, mode: str) -> Units:
    """Tokens where the tokenizer is in the hub's cache on this machine, else units that stand for them."""
    tokenizer = _cached_tokenizer(repository, revision) if mode == "hf" else None
    return Tokens(tokenizer) if tokenizer is not None else StandIns(family)


def _cached_tokenizer(repository: str, revision: str | None) -> Any:
    try:
        from huggingface_hub import try_to_load_from_cache
        from tokenizers import Tokenizer
    except ImportError:
        return None
    path = try_to_load_from_cache(repository, "tokenizer.json", revision=revision)
    return Tokenizer.from_file(path) if isinstance(path, str) else None
