"""Hides secrets: wherever a secret's value stands, also in a usual encoding of it, `[secret NAME]` stands instead.

Law: no text that comes out of here holds a value, or a form of it that is known here. Deliberately not here: what
cannot be found by looking for text, such as a value that was compressed, encrypted, split in two or spelt backwards.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import quote, quote_plus

from wieldy.core.errors import UsageError

if TYPE_CHECKING:
    from wieldy.core.json import JsonValue

SHORTEST_SECRET: Final = 4
"""Shorter ones stand in every text by chance, and to mask them would be to mask everything."""

_SHORTEST_LINE: Final = 16
"""From this length on a line of a secret of several lines, such as a private key, is a secret itself."""

_ROUNDS: Final = 3


class Mask:
    """Finds the secrets of one run.

    Raises:
        UsageError: A secret cannot be masked.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        marks = {name: f"[secret {name}]" for name in secrets}
        forms: dict[str, str] = {}
        for name, value in secrets.items():
            _check(name, value)
            for form in _forms(value):
                forms.setdefault(form, marks[name])
        # Longest first, so that a secret that holds another one is masked as itself.
        self._forms = sorted(forms.items(), key=lambda item: (-len(item[0]), item[0]))
        for form, mark in self._forms:
            shown = next((other for other in marks.values() if form in other), None)
            if shown is not None:
                raise UsageError(
                    f"Expected secrets that differ from what masks them; the value of {mark} stands in {shown!r}. "
                    "Give it another name, or another value."
                )

    def __bool__(self) -> bool:
        return bool(self._forms)

    def text(self, text: str) -> str:
        """The text without any secret.

        Cost: linear in the text, for each form of each secret.
        """
        if not self._forms:
            return text
        for _ in range(_ROUNDS):
            masked = text
            for form, mark in self._forms:
                if form in masked:
                    masked = masked.replace(form, mark)
            if masked is text:
                return text
            text = masked
        # What was put in place of a secret, and what stood beside it, made another one again and again.
        return next((mark for form, mark in self._forms if form in text), text)

    def settled(self, text: str) -> int:
        """How many characters of a text that goes on can be masked now: no secret may begin before and end after."""
        end = len(text)
        for form, _ in self._forms:
            start = max(0, len(text) - len(form) + 1)
            end = min(end, next((at for at in range(start, len(text)) if form.startswith(text[at:])), end))
        while end < len(text):
            # A whole one that goes beyond is held back with it.
            first = min((at for form, _ in self._forms if (at := _across(text, form, end)) >= 0), default=end)
            if first == end:
                break
            end = first
        return end

    def names_in(self, text: str) -> tuple[str, ...]:
        """How the secrets that stand in the text are shown."""
        return tuple(dict.fromkeys(mark for form, mark in self._forms if form in text))

    def value(self, value: JsonValue) -> JsonValue:
        """The JSON value without any secret; a number that is one becomes text."""
        written = json.dumps(value, ensure_ascii=False)
        # Where nothing is escaped, the text shows everything.
        return value if "\\" not in written and self.text(written) is written else self._walked(value)

    def _walked(self, value: JsonValue) -> JsonValue:
        match value:
            case str():
                return self.text(value)
            case list():
                return [self._walked(item) for item in value]
            case dict():
                return {self.text(name): self._walked(item) for name, item in value.items()}
            case int() | float():
                written = json.dumps(value)
                masked = self.text(written)
                return value if masked is written else masked
            case None:
                return None


def _across(text: str, form: str, place: int) -> int:
    """Where the form stands so that it begins before the place and ends after it; -1 if it does not."""
    return text.find(form, max(0, place - len(form) + 1), place + len(form) - 1)


def _check(name: object, value: object) -> None:
    # Secrets come from a program's configuration, where a variable that is not set is a likely mistake.
    if not isinstance(name, str) or not name:
        raise UsageError(f"Expected every secret to have a name, found {name!r}.")
    if not isinstance(value, str):
        raise UsageError(f"Expected the secret {name!r} to be text, found {type(value).__name__}.")
    if len(value.strip()) < SHORTEST_SECRET:
        raise UsageError(
            f"Expected the secret {name!r} to have at least {SHORTEST_SECRET} characters, found "
            f"{len(value.strip())}: whatever is so short stands in other texts by chance and would be masked there."
        )


def _forms(value: str) -> Iterator[str]:
    # Read from a file, a value often ends with a line break that it has nowhere else.
    plain = {
        value,
        value.strip(),
        *(line.strip() for line in value.splitlines() if len(line.strip()) >= _SHORTEST_LINE),
    }
    for text in plain:
        yield text
        for form in (*_url_forms(text), *_json_forms(text), *_base64_forms(text), *_others(text)):
            if len(form) >= SHORTEST_SECRET:
                yield form


def _url_forms(text: str) -> Iterator[str]:
    raw = _bytes(text)
    for form in (quote(raw), quote(raw, safe=""), quote_plus(raw)):
        yield form
        yield _with_lower_escapes(form)


def _with_lower_escapes(form: str) -> str:
    first, *rest = form.split("%")
    return "%".join([first, *(piece[:2].lower() + piece[2:] for piece in rest)])


def _json_forms(text: str) -> Iterator[str]:
    """As JSON writes it, also within JSON that stands as text in JSON."""
    for is_ascii in (True, False):
        once = json.dumps(text, ensure_ascii=is_ascii)[1:-1]
        yield from (once, once.replace("/", "\\/"), _as_html_safe_json(once))
        yield json.dumps(once, ensure_ascii=is_ascii)[1:-1]


def _as_html_safe_json(text: str) -> str:
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _base64_forms(text: str) -> Iterator[str]:
    """The characters that are the same whatever stands before and after the value, at each of the three places."""
    raw = _bytes(text)
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + raw).decode("ascii")
        form = encoded[-(-8 * before // 6) : 8 * (before + len(raw)) // 6]
        yield form
        yield form.replace("+", "-").replace("/", "_")


def _others(text: str) -> Iterator[str]:
    yield from (_bytes(text).hex(), _bytes(text).hex().upper())
    yield from (html.escape(text), html.escape(text, quote=False))
    yield repr(text)[1:-1]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def check_secrets(secrets: Mapping[str, str]) -> None:
    """Every one of these can be masked.

    Raises:
        UsageError: One cannot.
    """
    # Callers' arguments are untyped, and a list of names is a likely mistake.
    if not isinstance(cast("object", secrets), Mapping):
        raise UsageError(f"Expected secrets as a mapping from names to values, found {type(secrets).__name__}.")
    Mask(secrets)
