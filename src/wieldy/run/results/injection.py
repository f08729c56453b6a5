"""Is a text shaped like an attack on the model that reads it: orders to it, or marks of its own conversation?

Pure, and not a judgement of intent: a page that quotes an attack is shaped like one. What is found costs a label and
trust, never the text. Deliberately not here: what attacks look like (`injection_shapes`), what follows from one
(`run.policy`), attacks in pictures, in encodings such as base64, and in words that only mislead.

Cost: linear; a pattern is tried only where one of its beginnings stands.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from wieldy.run.results.injection_shapes import SHAPES, Shape
from wieldy.run.results.invisible import has_hidden, without_invisible

_SIGNS: Final = tuple(
    (gate, tuple((beginning, shape) for shape in shapes for beginning in shape.beginnings)) for gate, shapes in SHAPES
)
_LOOK_BACK: Final = 16
_ESCAPED: Final = re.compile(r"\\(?:[nrt\"'/]|u(?:00[0-7]|ff0)[0-9a-f])")
_DISGUISED: Final = re.compile("[\uff01-\uff5e\U0001d400-\U0001d7ff]")


def is_injection_shaped(text: str) -> bool:
    """Whether the text looks as if it were meant to steer the model that reads it, or hides something from people."""
    plain = text
    if not text.isascii():
        if has_hidden(text):
            return True
        plain = _undisguised(without_invisible(text))
    plain = plain.lower()
    if "\\" in plain:
        plain = _ESCAPED.sub(_unescaped, plain)
    for gate, signs in _SIGNS:
        if gate in plain:
            for beginning, shape in signs:
                if beginning in plain and _stands_in(plain, beginning, shape):
                    return True
    return False


def _stands_in(text: str, beginning: str, shape: Shape) -> bool:
    place = text.find(beginning)
    while place >= 0:
        if shape.pattern.match(text, place) and (
            shape.before is None or shape.before.search(text[max(0, place - _LOOK_BACK) : place])
        ):
            return True
        place = text.find(beginning, place + 1)
    return False


def _undisguised(text: str) -> str:
    """The text with letters that stand for plain ones, such as full-width and mathematical ones, as plain ones."""
    return _DISGUISED.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)


def _unescaped(found: re.Match[str]) -> str:
    """What JSON means by the escape."""
    escape = found[0]
    if escape[1] == "u":
        return chr(int(escape[2:], 16))
    return {"n": "\n", "r": "\n", "t": " "}.get(escape[1], escape[1])
