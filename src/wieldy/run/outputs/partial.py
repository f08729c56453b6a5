"""JSON while it is being written: after each piece, what there is of its value.

Laws: how the text is cut into pieces does not matter for the value after all of them; each value begins as the one
before it did (texts, lists and objects grow at their ends, all else comes whole); at the end of good JSON the value is
what a parser says. Where the text stops being JSON, the value stays as it is.
Cost: linear in the text; a value costs as much as copying the lists and objects that are open, without what is in them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final, Literal, TypeAlias, cast

from wieldy.core.json import JsonObject, JsonValue
from wieldy.schema.wellformed import MAX_DEPTH

_Mode: TypeAlias = Literal["value", "item", "first_key", "key", "colon", "more", "string", "word", "done", "broken"]
"""What comes next: `item` is a value or the end of a list, `more` a comma or the end of what is open. A word is a
number, `true`, `false` or `null`."""

_BLANK: Final = " \t\r\n"
_WORD: Final = re.compile(r"[-+.0-9A-Za-z]+")
_PLAIN: Final = re.compile(r'[^"\\\x00-\x1f]+')
_SIMPLE_ESCAPE: Final = re.compile(r'\\["\\/bfnrt]')
_CODE_UNIT: Final = re.compile(r"\\u[0-9a-fA-F]{4}")
_LONE: Final = re.compile("[\ud800-\udfff]")
_PAIR: Final = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_UNFINISHED: Final = re.compile(r"\\(u[0-9a-fA-F]{0,3})?|\\u[dD][89abAB][0-9a-fA-F]{2}(\\(u[0-9a-fA-F]{0,3})?)?")
_LONGEST_ESCAPE: Final = 12
"""Characters of a surrogate pair, written as two escapes."""


class Nothing:
    """No value yet; None would be one."""


@dataclass(slots=True)
class _Open:
    """A list or an object that is not closed yet; what is in it is complete."""

    items: list[JsonValue] | None
    members: JsonObject | None
    key: str = ""


class PartialJson:
    """One JSON value, read piece by piece."""

    def __init__(self) -> None:
        self._mode: _Mode = "value"
        self._open: list[_Open] = []
        self._root: JsonValue | Nothing = Nothing()
        self._text = ""
        self._is_text = False  # whether `_text` is a value on its way, which it stays where the text stops being JSON
        self._rest = ""
        self._has_news = False

    @property
    def value(self) -> JsonValue | Nothing:
        """What there is of the value."""
        found = self._text if self._is_text else self._root
        for place in reversed(self._open):
            found = _with(place, found)
        return found

    def feed(self, piece: str) -> bool:
        """Reads on; whether there is more of the value now."""
        self._has_news = False
        text, position = self._rest + piece, 0
        self._rest = ""
        while position < len(text) and self._mode not in ("done", "broken"):
            match self._mode:
                case "string":
                    following = self._string(text, position)
                case "word":
                    following = self._word(text, position)
                case _:
                    following = self._token(text, position)
            if following is None:
                self._rest = text[position:]
                break
            position = following
        return self._has_news

    def close(self) -> bool:
        """The text is over: a number at its very end is complete; whether there is more of the value now."""
        self._has_news = False
        if self._mode == "word":
            self._end_word()
        return self._has_news

    # Each step gives the position behind what it read; None if it needs more text.

    def _token(self, text: str, position: int) -> int:
        character = text[position]
        if character in _BLANK:
            return position + 1
        step = self._STEPS.get((self._mode, character))
        if step is not None:
            step(self)
            return position + 1
        is_value = self._mode in ("value", "item")
        self._mode = "word" if is_value and _WORD.match(text, position) else "broken"
        return position

    def _word(self, text: str, position: int) -> int:
        found = _WORD.match(text, position)
        if found is None:
            self._end_word()
            return position
        self._text += found.group()
        return found.end()

    def _end_word(self) -> None:
        word, self._text = self._text, ""
        try:
            self._complete(_read_word(word))
        except ValueError:
            self._mode = "broken"
        else:
            self._has_news = True

    def _string(self, text: str, position: int) -> int | None:
        plain = _PLAIN.match(text, position)
        if plain is not None:
            self._add(plain.group())
            return plain.end()
        if text[position] == '"':
            self._end_string()
            return position + 1
        return self._escape(text[position : position + _LONGEST_ESCAPE], position)

    def _escape(self, text: str, position: int) -> int | None:
        found = _PAIR.match(text) or _SIMPLE_ESCAPE.match(text) or _CODE_UNIT.match(text)
        if found is not None:
            character = json.loads(f'"{found.group()}"')
            if not _LONE.match(character):
                self._add(character)
                return position + found.end()
        if _UNFINISHED.fullmatch(text):
            return None
        self._mode = "broken"  # no escape, or half a character
        return position

    # What was read

    def _add(self, text: str) -> None:
        self._text += text
        self._has_news = self._has_news or self._is_text

    def _begin_key(self) -> None:
        self._mode = "string"

    def _begin_value(self) -> None:
        self._mode = "value"

    def _begin_text(self) -> None:
        self._mode, self._is_text, self._has_news = "string", True, True

    def _end_string(self) -> None:
        text, self._text = self._text, ""
        if self._is_text:
            self._is_text = False
            self._complete(text)
            return
        members = self._open[-1].members
        is_new = members is not None and text not in members
        self._open[-1].key, self._mode = text, "colon" if is_new else "broken"

    def _begin_list(self) -> None:
        self._begin(_Open(items=[], members=None), "item")

    def _begin_object(self) -> None:
        self._begin(_Open(items=None, members={}), "first_key")

    def _begin(self, place: _Open, mode: _Mode) -> None:
        if len(self._open) > MAX_DEPTH:
            self._mode = "broken"
            return
        self._open.append(place)
        self._mode, self._has_news = mode, True

    def _end_list(self) -> None:
        self._end(cast("JsonValue", self._open[-1].items))

    def _end_object(self) -> None:
        self._end(cast("JsonValue", self._open[-1].members))

    def _end(self, value: JsonValue) -> None:
        if value is None:  # the other kind of bracket
            self._mode = "broken"
            return
        del self._open[-1]
        self._complete(value)

    def _complete(self, value: JsonValue) -> None:
        if not self._open:
            self._root, self._mode = value, "done"
            return
        place = self._open[-1]
        if place.items is not None:
            place.items.append(value)
        elif place.members is not None:
            place.members[place.key] = value
        self._mode = "more"

    def _next(self) -> None:
        self._mode = "value" if self._open[-1].items is not None else "key"

    _STEPS: ClassVar[dict[tuple[_Mode, str], Callable[[PartialJson], None]]] = {
        **dict.fromkeys((("value", "{"), ("item", "{")), _begin_object),
        **dict.fromkeys((("value", "["), ("item", "[")), _begin_list),
        **dict.fromkeys((("value", '"'), ("item", '"')), _begin_text),
        **dict.fromkeys((("first_key", '"'), ("key", '"')), _begin_key),
        ("colon", ":"): _begin_value,
        ("more", ","): _next,
        **dict.fromkeys((("item", "]"), ("more", "]")), _end_list),
        **dict.fromkeys((("first_key", "}"), ("more", "}")), _end_object),
    }


def _with(place: _Open, inner: JsonValue | Nothing) -> JsonValue:
    """What is open, with what there is of the value that is being written in it."""
    if place.items is not None:
        return list(place.items) if isinstance(inner, Nothing) else [*place.items, inner]
    members = place.members or {}
    return dict(members) if isinstance(inner, Nothing) else {**members, place.key: inner}


def _read_word(word: str) -> JsonValue:
    value: JsonValue = json.loads(word)
    if word in ("NaN", "Infinity", "-Infinity"):
        raise ValueError(word)
    return value
