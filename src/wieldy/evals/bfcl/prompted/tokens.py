"""Tokens of Java and JavaScript: what of expressions is each language's own, and a text from which they are taken.

Deliberately not here: what they come to together (`expressions`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from wieldy.evals.bfcl.categories import Language
from wieldy.evals.bfcl.decoding import DecodingError


class Node(NamedTuple):
    """A part of an expression.

    Attributes:
        kind: Such as `call`, `name`, `string`, `new`, `new array`, `assignment`; `token` for a mark.
        start: Of its text, in characters.
        end: Of its text.
        parts: What it consists of, marks included; nothing where it is one token.
    """

    kind: str
    start: int
    end: int
    parts: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """What of expressions is a language's own.

    Attributes:
        strings: Texts.
        numbers: Numbers without a sign.
        prefixes: Operators before an operand.
        infixes: Operators between two.
        assignments: Operators that assign.
        arrow: Of a function without a name.
        words: That begin an operand which is not read here.
    """

    language: Language
    strings: re.Pattern[str]
    numbers: re.Pattern[str]
    prefixes: re.Pattern[str]
    infixes: re.Pattern[str]
    assignments: re.Pattern[str]
    arrow: str
    words: frozenset[str]


TEMPLATE: Final = re.compile(r"`(?:[^`\\]|\\.)*`", re.DOTALL)


_SPACE: Final = re.compile(r"\s*")
_QUOTED: Final = r"'(?:[^'\\\n]|\\.)+'"
_WHOLE: Final = r"0[xX][\da-fA-F_]+|0[bB][01_]+"
_DIGITS: Final = r"\d(?:_?\d)*"
_DECIMAL: Final = r"(?:0?[1-9](?:_?\d)*|0)"
_EXPONENT: Final = r"(?:[eE][+-]?\d+)?"

_SHARED: Final = r"\|\||&&|==|!=|<=|>=|>>>|<<|>>|-(?![-=])|\+(?![+=])|[*/%&|^<>](?!=)"
JAVA: Final = Grammar(
    language="java",
    strings=re.compile(rf'"""(?:[^"\\]|\\.|"{{1,2}}(?!"))*"""|"(?:[^"\\]|\\.)*"|{_QUOTED}', re.DOTALL),
    numbers=re.compile(
        rf"(?:{_WHOLE})[lL]?|(?:{_DIGITS})?\.{_DIGITS}{_EXPONENT}[fFdD]?|{_DIGITS}\.{_EXPONENT}[fFdD]?"
        rf"|{_DIGITS}[eE][+-]?\d+[fFdD]?|0[0-7]+[lL]?|(?:0|[1-9](?:_?\d)*)[lLfFdD]?"
    ),
    prefixes=re.compile(r"\+\+|--|[-+!~]"),
    infixes=re.compile(_SHARED + r"|instanceof\b"),
    assignments=re.compile(r"(?:>>>|<<|>>|[-+*/%&|^])?=(?!=)"),
    arrow="->",
    words=frozenset({"switch"}),
)
JAVASCRIPT: Final = Grammar(
    language="javascript",
    strings=re.compile(rf'"(?:[^"\\\n]|\\.)*"|{_QUOTED}|\'\'', re.DOTALL),
    numbers=re.compile(
        rf"(?:{_WHOLE})n?|{_DECIMAL}n|(?:{_DECIMAL})?\.{_DIGITS}{_EXPONENT}|{_DECIMAL}\.{_EXPONENT}"
        rf"|{_DECIMAL}[eE][+-]?\d+|{_DIGITS}"
    ),
    prefixes=re.compile(r"\+\+|--|[-+!~]|(?:typeof|void|delete|await)\b"),
    infixes=re.compile(r"===|!==|\?\?(?!=)|\*\*(?!=)|" + _SHARED + r"|(?:instanceof|in)\b"),
    assignments=re.compile(r"(?:>>>|<<|>>|\*\*|\?\?|&&|\|\||[-+*/%&|^])?=(?![=>])"),
    arrow="=>",
    words=frozenset({"class", "function", "import", "yield"}),
)
_WITHIN: Final = re.compile(r"[(){}\[\]]|" + JAVA.strings.pattern + "|" + TEMPLATE.pattern + "|[\"'`]", re.DOTALL)
_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}


class Tokens:
    """A text, and how far it was read.

    Raises:
        DecodingError: From methods that want something: the text has something else there.
    """

    def __init__(self, text: str, grammar: Grammar) -> None:
        self.text = text
        self.at = 0
        self.grammar = grammar

    def skip_space(self) -> None:
        """Behind white space."""
        found = _SPACE.match(self.text, self.at)
        self.at = self.at if found is None else found.end()

    @property
    def is_at_end(self) -> bool:
        """Whether nothing but white space is left."""
        self.skip_space()
        return self.at == len(self.text)

    def take(self, mark: str) -> Node | None:
        """The mark, if it is next."""
        self.skip_space()
        if not self.text.startswith(mark, self.at):
            return None
        self.at += len(mark)
        return Node("token", self.at - len(mark), self.at)

    def expect(self, mark: str) -> Node:
        """The mark, which must be next."""
        found = self.take(mark)
        if found is None:
            raise self.unexpected(mark)
        return found

    def matched(self, pattern: re.Pattern[str], kind: str) -> Node | None:
        """What the pattern finds next."""
        self.skip_space()
        found = pattern.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return Node(kind, found.start(), found.end())

    def skipped(self, kind: str) -> Node:
        """What stands between two brackets, whatever it is."""
        start, open_ones = self.at, list[str]()
        for mark in _WITHIN.finditer(self.text, self.at):
            if mark[0] in _CLOSING:
                open_ones.append(_CLOSING[mark[0]])
            elif mark[0] in "\"'`":
                break
            elif mark[0] in ")}]":
                if not open_ones or open_ones.pop() != mark[0]:
                    break
                if not open_ones:
                    self.at = mark.end()
                    return Node(kind, start, self.at)
        raise self.unexpected("brackets that match")

    def unexpected(self, wanted: str) -> DecodingError:
        """Something else than what is wanted is next."""
        return DecodingError(f"Expected {wanted}, found {self.text[self.at : self.at + 40]!r}.")


def joined(kind: str, *parts: Node) -> Node:
    """The parts as one."""
    return Node(kind, parts[0].start, parts[-1].end, parts)
