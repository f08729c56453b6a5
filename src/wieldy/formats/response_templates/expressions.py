r"""Regular expressions of response templates, read as pieces and pieces as nodes.

Only that part of the language is read that says what our nodes say: texts, layout, runs of characters, named groups,
alternatives, what may be missing, and looks ahead. Anything else is a `UsageError` that shows the place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from wieldy.core.errors import UsageError
from wieldy.formats.nodes.flat import NAME, CallId, Flat, Gap, Index, Literal, Name, WithId


@dataclass(frozen=True, slots=True)
class Text:
    """A text as it stands."""

    text: str


@dataclass(frozen=True, slots=True)
class Run:
    """Characters of a class: the inside of a character class, or empty for any character."""

    allowed: str


@dataclass(frozen=True, slots=True)
class Edge:
    """The beginning (`^`) or the end (`$`) of the text."""

    sign: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several sequences; perhaps none, perhaps under a name, perhaps only looked at."""

    options: tuple[tuple[Piece, ...], ...]
    name: str = ""
    is_optional: bool = False
    is_ahead: bool = False


Piece: TypeAlias = Text | Run | Edge | Choice | Gap
_MAX_DEPTH = 20
_CLASSES = {r"\w": r"\w", r"\d": "0-9", r"\S": r"^\s", ".": "", r"[\s\S]": ""}
_TOKEN = re.compile(
    r"""(?P<words>\\b\[\^>\]\*\?\\b) | (?P<rest>\[\^>\]\*\?(?=>))
    | \\s(?P<space>[*+])
    | (?P<edge>\^|\$|\\Z)
    | (?P<run>\[\\s\\S\]|\[\^?(?:\\.|[^\]\\\[])+\]|\\[wSd]|\.)(?P<many>[*+])\??
    | \((?P<group>\?:|\?=|\?P<(?P<name>\w+)>)
    | (?P<char>\\[^a-zA-Z0-9]|\\[nrt]|[^\\()|\[*+?.])(?P<maybe>\??)(?![*+{])
    """,
    re.VERBOSE | re.DOTALL,
)


def pieces(expression: str, *, where: str) -> tuple[tuple[Piece, ...], ...]:
    """The alternatives of an expression.

    Raises:
        UsageError: The expression says something that no node says; the text names `where` and shows the place.
    """
    reader = _Expression(expression, where)
    options = reader.options(0)
    if reader.at < len(expression):
        raise reader.error()
    return _flattened(options)


def _flattened(options: Sequence[tuple[Piece, ...]]) -> tuple[tuple[Piece, ...], ...]:
    """The alternatives, those of groups that are nothing but alternatives among them."""
    flat: list[tuple[Piece, ...]] = []
    for option in options:
        match option:
            case (Choice(name="", is_optional=False, is_ahead=False, options=inner),):
                flat += _flattened(inner)
            case _:
                flat.append(option)
    return tuple(flat)


class _Expression:
    """One expression on its way to pieces."""

    def __init__(self, expression: str, where: str) -> None:
        self._expression, self._where = expression, where
        self.at = 0

    def error(self) -> UsageError:
        return UsageError(
            f"{self._where}: expected an expression of texts, layout and named groups, found "
            f"{self._expression[self.at : self.at + 30]!r} at character {self.at}, which no node of a chat format says."
        )

    def options(self, depth: int) -> tuple[tuple[Piece, ...], ...]:
        """Takes alternatives, up to the closing parenthesis or the end."""
        if depth > _MAX_DEPTH:
            raise self.error()
        options: list[tuple[Piece, ...]] = []
        while True:
            options.append(tuple(_merged(self._sequence(depth))))
            if not self._takes("|"):
                return tuple(options)

    def _takes(self, text: str) -> bool:
        found = self._expression.startswith(text, self.at)
        self.at += len(text) if found else 0
        return found

    def _sequence(self, depth: int) -> Iterator[Piece]:
        while self._expression[self.at : self.at + 1] not in ("", "|", ")"):
            token = _TOKEN.match(self._expression, self.at)
            if not token or not _is_class(token["run"]):
                raise self.error()
            self.at = token.end()
            yield self._group(token, depth) if token["group"] else _piece(token)

    def _group(self, token: re.Match[str], depth: int) -> Piece:
        options = self.options(depth + 1)
        if not self._takes(")"):
            raise self.error()
        is_optional = self._takes("?")
        if self._expression[self.at : self.at + 1] in ("*", "+", "{", "?"):
            raise self.error()
        inner = _flattened(options)
        return Choice(inner, token["name"] or "", is_optional=is_optional, is_ahead=token["group"] == "?=")


def _is_class(run: str | None) -> bool:
    """Whether it is a class of characters, if it is anything: `[z-a]` looks like one."""
    if any(doubled in (run or "") for doubled in ("--", "&&", "||", "~~")):
        return False  # these may come to mean something, and warn until then
    try:
        re.compile(run or "")
    except re.error:
        return False
    return True


def _piece(token: re.Match[str]) -> Piece:
    if token["words"] or token["rest"]:
        return Gap(" " if token["words"] else "")  # attributes that may stand in a tag
    if token["space"]:
        return Gap()
    if token["edge"]:
        return Edge("^" if token["edge"] == "^" else "$")
    if token["run"]:
        return Run(_CLASSES.get(token["run"], token["run"][1:-1]))
    character = token["char"]
    character = {r"\n": "\n", r"\r": "\r", r"\t": "\t"}.get(character, character[-1])
    return Choice(((Text(character),),), is_optional=True) if token["maybe"] else Text(character)


def _merged(sequence: Iterator[Piece]) -> Iterator[Piece]:
    """The pieces with characters that follow one another as one text."""
    text = ""
    for piece in sequence:
        if isinstance(piece, Text):
            text += piece.text
            continue
        if text:
            yield Text(text)
        text = ""
        yield piece
    if text:
        yield Text(text)


# Pieces as nodes


def texts(options: Sequence[tuple[Piece, ...]], *, where: str) -> Literal:
    """A mark in all its spellings, without the layout at its edges and without alternatives that only look.

    Raises:
        UsageError: There is something else, or nothing.
    """
    found: list[str] = []
    for option in _flattened(options):
        marks = [piece for piece in option if not isinstance(piece, Gap) and not _is_space(piece)]
        if all(isinstance(piece, Edge) or (isinstance(piece, Choice) and piece.is_ahead) for piece in marks):
            continue
        match marks:
            case [Text(text=text)]:
                found.append(text.strip() or text)
            case [Choice(name="", is_optional=False, options=inner)]:
                found += texts(inner, where=where).spellings
            case _:
                raise UsageError(f"{where}: expected a text, perhaps with layout around it, found {_shown(marks)}.")
    if not found:
        raise UsageError(f"{where}: expected a text that stands there, found none.")
    return Literal(found[0], also=tuple(dict.fromkeys(found[1:])))


def _is_space(piece: Piece) -> bool:
    match piece:
        case Choice(options=((Text(text=text),),), is_optional=True):
            return not text.strip()
        case _:
            return False


def nodes(sequence: Sequence[Piece], *, where: str) -> tuple[Flat, ...]:
    """What stands before or behind arguments.

    Raises:
        UsageError: A piece is none of our nodes.
    """
    found = tuple(_joined(node for piece in sequence for node in _nodes(piece, where)))
    kinds = [type(node) for node in _spread(found)]
    if kinds.count(Name) > 1 or kinds.count(CallId) > 1:
        raise UsageError(f"{where}: expected `name` and `id` at most once, found one of them again.")
    return found


def _spread(found: Sequence[Flat]) -> Iterator[Flat]:
    for node in found:
        yield node
        if isinstance(node, CallId | WithId):
            yield from _spread(node.nodes)


def _nodes(piece: Piece, where: str) -> Iterator[Flat]:
    match piece:
        case Gap():
            yield piece
        case Text(text=text):
            for part in re.findall(r"\A\s+|\S(?:.*\S)?|\s+\Z", text, re.DOTALL):
                yield Literal(part) if part.strip() else Gap(part)
        case Run(allowed="0-9"):
            yield Index()
        case Edge() | Choice(is_ahead=True):
            pass
        case Choice(name="name", options=((Run(allowed=allowed),),)):
            yield Name(NAME if allowed in (r"\w", r"^\s") else allowed)
        case Choice(name="id", options=(option,)):
            yield _call_id(option, where)
        case Choice(name="", is_optional=True, options=(option,)) if len(option) > 1:
            yield from _optional(nodes(option, where=where))
        case Choice(name="", options=options, is_optional=is_optional):
            mark = texts(options, where=where)
            yield Literal(mark.text, also=mark.also, required=not is_optional) if mark.text.strip() else Gap(mark.text)
        case _:
            raise UsageError(f"{where}: expected texts, layout, `name` or `id`, found {_shown([piece])}.")


def _call_id(option: Sequence[Piece], where: str) -> CallId:
    match option:
        case [Run(allowed=allowed)]:
            return CallId(allowed=allowed)
        case _:
            return CallId(nodes(option, where=where))


def _optional(found: tuple[Flat, ...]) -> tuple[Flat, ...]:
    if any(isinstance(node, CallId) for node in found):
        return (WithId(found),)
    return tuple(replace(node, required=False) if isinstance(node, Literal) else node for node in found)


def _joined(found: Iterator[Flat]) -> Iterator[Flat]:
    """The nodes with layout that follows layout as one."""
    gap: Gap | None = None
    for node in found:
        if isinstance(node, Gap):
            gap = Gap((gap.text if gap else "") + node.text)
            continue
        yield from (gap,) if gap else ()
        gap = None
        yield node
    yield from (gap,) if gap else ()


def _shown(sequence: Sequence[Piece]) -> str:
    words: list[str] = []
    for piece in sequence:
        match piece:
            case Text(text=text):
                words.append(repr(text))
            case Run(allowed=allowed):
                words.append(f"characters [{allowed or 'any'}]")
            case Choice(name=name):
                words.append(f"the group {name!r}" if name else "alternatives")
            case _:
                words.append("layout")
    return " and ".join(words) or "nothing"
