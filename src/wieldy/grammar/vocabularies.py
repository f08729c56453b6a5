"""How the files of models write their vocabularies: GGUF metadata and `tokenizer.json`, read into bytes and ids.

Pure: the file itself is read by others. A vocabulary of byte-level BPE spells each byte as a printable letter, one of
SentencePiece writes a space as `▁` and bytes without a token of their own as `<0x0A>`.
Source: the GGUF specification (ggml, docs/gguf.md, `tokenizer.ggml.*`); the byte letters are those of GPT-2.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import msgspec

from wieldy.core.errors import GrammarError
from wieldy.grammar.arguments import shown, wrong

TokenNames: TypeAlias = int | str | Iterable[int | str]
"""Tokens by their ids or by their texts."""

_NORMAL, _CONTROL, _USER_DEFINED, _BYTE = 1, 3, 4, 6
_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_ENDS = ("eos", "eot", "eom")


def is_mark(text: str) -> bool:
    """Whether an added token looks as if it meant something: as the engine decides it."""
    return text.startswith("<") and text.endswith(">")


def ids_of(wanted: TokenNames, named: Mapping[str, int], size: int) -> tuple[int, ...]:
    """The ids of the wanted tokens, each once.

    Raises:
        GrammarError: One of them is not in the vocabulary.
    """
    is_one = isinstance(wanted, int | str) or not isinstance(wanted, Iterable)  # pyright: ignore[reportUnnecessaryIsInstance]
    several = cast("tuple[int | str, ...]", (wanted,) if is_one else tuple(cast("Iterable[int | str]", wanted)))
    for token in several:
        if not isinstance(token, int | str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise wrong("tokens by their ids or by their texts", token)
    ids = [named.get(token, -1) if isinstance(token, str) else token for token in several]
    for token, found in zip(several, ids, strict=True):
        if not 0 <= found < size:
            raise GrammarError(f"The token {shown(token)} is not among the {size} tokens of the vocabulary.")
    return tuple(dict.fromkeys(ids))


# GGUF


def gguf_tokens(metadata: Mapping[str, Any]) -> tuple[tuple[bytes, ...], dict[str, int]]:
    """The bytes of every token of a GGUF file, and its special tokens by their text.

    Raises:
        GrammarError: The metadata describe no vocabulary, or one of a kind that is not known here.
    """
    texts: Any = metadata.get("tokenizer.ggml.tokens")
    if not isinstance(texts, Sequence) or not texts:
        raise GrammarError("The metadata describe no vocabulary: `tokenizer.ggml.tokens` is not there.")
    model = str(metadata.get("tokenizer.ggml.model"))
    if model not in _SPELLINGS:
        raise GrammarError(f"Expected a vocabulary of the kind {' or '.join(_SPELLINGS)}, found {shown(model)}.")
    found: Any = metadata.get("tokenizer.ggml.token_type")
    kinds = list(cast("Sequence[object]", found)) if isinstance(found, Sequence) else []
    pairs = [
        (str(text), kinds[index] if index < len(kinds) else _NORMAL)
        for index, text in enumerate(cast("Sequence[object]", texts))
    ]
    spelled = _SPELLINGS[model]
    tokens = tuple(
        spelled(text) if kind in (_NORMAL, _BYTE) else text.encode("utf-8", "surrogatepass") for text, kind in pairs
    )
    special = {
        text: index
        for index, (text, kind) in enumerate(pairs)
        if kind == _CONTROL or (kind == _USER_DEFINED and is_mark(text))
    }
    return tokens, special


def gguf_ends(metadata: Mapping[str, Any]) -> list[int]:
    """The tokens that a GGUF file says end a sequence, a turn or a message."""
    found = (metadata.get(f"tokenizer.ggml.{name}_token_id") for name in _ENDS)
    return [end for end in found if isinstance(end, int)]


def _byte_letters() -> dict[str, int]:
    """The letter that stands for each byte: itself where it is printable, else one from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [value for value in range(256) if value not in printable]
    return {chr(value): value for value in printable} | {chr(256 + n): value for n, value in enumerate(others)}


_BYTE_OF = _byte_letters()


def _of_letters(text: str) -> bytes:
    try:
        return bytes(_BYTE_OF[letter] for letter in text)
    except KeyError:
        return text.encode("utf-8", "surrogatepass")


def _of_pieces(text: str) -> bytes:
    byte = _BYTE_TOKEN.fullmatch(text)
    return bytes([int(byte[1], 16)]) if byte else text.replace("▁", " ").encode("utf-8", "surrogatepass")


_SPELLINGS: Mapping[str, Callable[[str], bytes]] = {"gpt2": _of_letters, "llama": _of_pieces, "gemma4": _of_pieces}


# tokenizer.json


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonVocabulary:
    """A `tokenizer.json` as the engine gets it.

    Attributes:
        text: The content, in which special tokens have names that no text has, and one token more.
        named: The tokens by their text.
        special: The special ones by their text.
        size: How many tokens there were; the id of the one more.
    """

    text: str
    named: Mapping[str, int]
    special: Mapping[str, int]
    size: int


def json_vocabulary(text: str, special: TokenNames) -> JsonVocabulary:
    """The vocabulary in a `tokenizer.json`, prepared for the engine.

    The engine cuts a text that must come, and offers the first token of it alone. A tokenizer finds its special tokens
    in any text, writes some letters otherwise, and takes `▁` for a space: that token would then be refused. So special
    tokens are called what no text is, letters stay what they are, and a space is written as no text has it.

    Args:
        text: The file's content.
        special: Tokens that are special whatever the file says.

    Raises:
        GrammarError: The text is no `tokenizer.json`, or a special token is not in it.
    """
    try:
        document = msgspec.json.decode(text, type=dict[str, Any])
        model: dict[str, Any] = document["model"]
        listed: Any = model["vocab"]
        added = {int(token["id"]): dict(token) for token in document.get("added_tokens") or ()}
        # A Unigram model lists its tokens with their weights; the others have them by their text.
        texts = cast("dict[str, int]", listed if isinstance(listed, dict) else {t[0]: n for n, t in enumerate(listed)})
        named = texts | {str(token["content"]): number for number, token in added.items()}
        size = 1 + max(named.values())
    except (msgspec.DecodeError, msgspec.ValidationError, KeyError, TypeError, ValueError) as error:
        raise GrammarError(
            f"Expected the text of a tokenizer.json, found something else ({shown(str(error))})."
        ) from None
    wanted = frozenset(ids_of(special, named, size))
    found = {
        name: number
        for name, number in named.items()
        if number in wanted or (number in added and (added[number].get("special") or is_mark(name)))
    }
    names = {name: _NO_TEXT.format(number) for name, number in found.items()}
    tokens = [
        token for number, token in added.items() if number not in names.values() and token["content"] not in names
    ]
    tokens += [{**_AS_IT_IS, "id": number, "content": names[name]} for name, number in found.items()]
    tokens.append({**_AS_IT_IS, "id": size, "content": _NO_TEXT.format(size)})
    document["added_tokens"] = sorted(tokens, key=lambda token: token["id"])
    if isinstance(listed, dict):
        model["vocab"] = {names.get(name, name): number for name, number in texts.items()}
    else:
        model["vocab"] = [[names.get(token[0], token[0]), *token[1:]] for token in listed]
    if names.keys() & texts.keys() and model.get("merges"):
        model["merges"] = [merge for merge in model["merges"] if names.keys().isdisjoint(_merged(merge))]
    model["unk_token"] = names.get(model.get("unk_token", ""), model.get("unk_token"))
    document |= dict.fromkeys(("padding", "truncation", "post_processor"))
    document["normalizer"] = _spelling_only(document.get("normalizer"))
    written = msgspec.json.encode(document).decode()
    if _SPACE in msgspec.json.encode([document.get("decoder"), document.get("pre_tokenizer")]).decode():
        written = written.replace(_SPACE, _NO_CHARACTER)
    return JsonVocabulary(text=written, named=named, special=found, size=size)


def _merged(merge: Any) -> tuple[str, str, str]:
    """The two texts of a merge, written as a pair or with a space between them, and what becomes of them."""
    first, second = merge.split(" ", 1) if isinstance(merge, str) else merge
    return first, second, first + second


def _spelling_only(normalizer: Any) -> Any:
    """The part of a normalizer that writes spaces otherwise; what would change letters is left out."""
    match normalizer:
        case {"type": "Sequence", "normalizers": [*several]}:
            kept = [found for inner in several if (found := _spelling_only(inner))]
            return {"type": "Sequence", "normalizers": kept} if kept else None
        case {"type": "Prepend", "prepend": str() as space} | {"type": "Replace", "content": str() as space}:
            return normalizer if space == _SPACE else None
        case _:
            return None


_SPACE, _NO_CHARACTER = "▁", "\ufffe"
_NO_TEXT = "\uffff{}\uffff"
_AS_IT_IS = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
