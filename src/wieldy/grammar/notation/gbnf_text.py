"""The letters of GBNF: rules as lines, literals and characters with their escapes."""

from __future__ import annotations

from wieldy.core.errors import GrammarError

_MAX_COUNT = 2000
"""llama.cpp takes no larger count."""


class Lines:
    """The rules of a grammar, in the order in which they were added."""

    def __init__(self) -> None:
        self._rules: dict[str, str] = {}
        self._count = 0

    def add(self, name: str, expression: str) -> None:
        """The grammar has the rule; the name is new."""
        self._rules[name] = expression

    def fresh(self, kind: str) -> str:
        """A name that no other rule has."""
        self._count += 1
        return f"{kind}-{self._count}"

    def text(self) -> str:
        """The grammar, a line a rule."""
        return "".join(f"{name} ::= {expression}\n" for name, expression in self._rules.items())


def quoted(text: str) -> str:
    """Exactly this text.

    Raises:
        GrammarError: It holds half of a surrogate pair.
    """
    return f'"{"".join(map(_in_quotes, text))}"'


def character(text: str) -> str:
    """One character inside brackets."""
    return text if text.isascii() and text.isalnum() else _escaped(text)


def counts(least: int, most: int | None) -> str:
    """The suffix for so many repetitions; a bound that the engine does not take is widened."""
    plain: dict[tuple[int, int | None], str] = {(0, None): "*", (1, None): "+", (0, 1): "?", (1, 1): ""}
    least = min(least, _MAX_COUNT)
    if most is not None and most > _MAX_COUNT:
        most = None
    return plain.get((least, most), f"{{{least},{'' if most is None else most}}}")


def _in_quotes(text: str) -> str:
    return text if text.isprintable() and text not in '"\\' else _escaped(text)


def _escaped(text: str) -> str:
    code = ord(text)
    if 0xD800 <= code <= 0xDFFF:
        raise GrammarError(f"The grammar holds half of a surrogate pair (U+{code:04X}), which is no text.")
    # Never \x: xgrammar takes hexadecimal digits that follow for part of it.
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
