"""Is a text shaped like an attack on the model that reads it: orders to it, or marks of its own conversation?

Pure, and not a judgement of intent: a page that quotes an attack is shaped like one. What is found costs a label and
trust, never the text. Deliberately not here: what attacks look like (`injection_shapes`), what follows from one
(`run.policy`), attacks in pictures, in encodings such as base64, and in words that only mislead.

Cost: linear, and no more than for `2 * JUDGED_CHARACTERS` characters. The text is split into words once, and a shape is
tried only where one of its words stands.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterator
from typing import Final

from wieldy.run.results.injection_shapes import SHAPES, Shape
from wieldy.run.results.invisible import has_hidden, has_invisible, without_invisible
from wieldy.tools.present import whole_characters

JUDGED_CHARACTERS: Final = 64 * 1024
"""Of a longer text only as many at its beginning and its end are looked at: more than a model is shown at once."""

_IS_WORD: Final = re.compile("[a-z]+")
_BY_WORD: Final[dict[bytes, tuple[str, tuple[Shape, ...]]]] = {
    word.encode(): (word, tuple(shape for shape in SHAPES if word in shape.words))
    for word in {word for shape in SHAPES for word in shape.words}
    if _IS_WORD.fullmatch(word)
}
_WORDS: Final = frozenset(_BY_WORD)
_BY_TEXT: Final = tuple((text, (shape,)) for shape in SHAPES for text in shape.words if not _IS_WORD.fullmatch(text))
"""Those that are no words between spaces: of other scripts, and of signs."""

_LETTERS_ONLY: Final = bytes(
    ord(chr(code).lower()) if chr(code) in string.ascii_letters else ord(" ") for code in range(256)
)
_LOOK_BACK: Final = 48
_ESCAPED: Final = re.compile(r"\\(?:[nrt\"'/]|u[0-9a-fA-F]{4})")
_DISGUISED: Final = re.compile("[\uff01-\uff5e\U0001d400-\U0001d7ff]")


def is_injection_shaped(text: str) -> bool:
    """Whether the text looks as if it were meant to steer the model that reads it, or hides something from people."""
    if len(text) > 2 * JUDGED_CHARACTERS:
        text = f"{text[:JUDGED_CHARACTERS]}\n{text[-JUDGED_CHARACTERS:]}"
    if "\\" in text:
        text = whole_characters(_ESCAPED.sub(_unescaped, text))
    if not text.isascii():
        if has_invisible(text):
            if has_hidden(text):
                return True
            text = without_invisible(text)
        text = _DISGUISED.sub(_undisguised, text)
    words = _WORDS.intersection(text.encode("ascii", "replace").translate(_LETTERS_ONLY).split())
    candidates = [*map(_BY_WORD.__getitem__, words), *_by_text(text)]
    return bool(candidates) and _has_any(text.lower(), candidates)


def _by_text(text: str) -> Iterator[tuple[str, tuple[Shape, ...]]]:
    if "<" not in text and text.isascii():
        return
    lowered = text.lower()
    yield from (candidate for candidate in _BY_TEXT if candidate[0] in lowered)


def _has_any(text: str, candidates: list[tuple[str, tuple[Shape, ...]]]) -> bool:
    return any(_stands_at(place, text, shapes) for word, shapes in candidates for place in _places(text, word))


def _places(text: str, word: str) -> Iterator[int]:
    place = text.find(word)
    while place >= 0:
        yield place
        place = text.find(word, place + 1)


def _stands_at(place: int, text: str, shapes: tuple[Shape, ...]) -> bool:
    if text[place].isalpha() and text[place].isascii() and place and text[place - 1].isalpha():
        return False  # in the middle of another word
    for shape in shapes:
        if shape.before is not None and not shape.before.search(text[max(0, place - _LOOK_BACK) : place]):
            continue
        if shape.then.match(text, place):
            return True
    return False


def _undisguised(found: re.Match[str]) -> str:
    """The plain letter for which a full-width or mathematical one stands."""
    return unicodedata.normalize("NFKC", found[0])


def _unescaped(found: re.Match[str]) -> str:
    """What JSON means by the escape."""
    escape = found[0]
    if escape[1] == "u":
        return chr(int(escape[2:], 16))
    return {"n": "\n", "r": "\n", "t": " "}.get(escape[1], escape[1])
