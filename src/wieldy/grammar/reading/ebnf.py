r"""EBNF as the W3C writes it (`name ::= ...`) and GBNF, which is llama.cpp's and xgrammar's variety of it.

Both are read as one: names, `"text"` with the escapes of GBNF (`\n`, `\"`, `\x41`, `\u00e9`, `\U0001f600`), `'text'`
and `#x41` as the W3C has them, `[a-z]`, `[^a-z]` and `.` for one character, `( ) | * + ? {2,5}`, and comments, `# ...`
to the end of the line or `/* ... */`. `<name>` is a special token. The grammar starts at its rule `root`, or at its
first. Named in an error, and not read: the W3C's `A - B`, and ISO 14977, which writes `=` and `;`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from wieldy.core.errors import GrammarError
from wieldy.grammar.reading.character_class import character_class, complement, inside
from wieldy.grammar.reading.rules import Count, Leaf, Symbol, Word, rules_of
from wieldy.grammar.shape import Characters, Exact, Rules

_SYMBOL = re.compile(
    r"""
    (?P<space> \s+ | /\*.*?\*/ | \#(?!x[0-9A-Fa-f]) [^\n]* )
  | (?P<rule> [A-Za-z_][\w-]* ) \s* ::=
  | (?P<name> [A-Za-z_][\w-]* )
  | "(?P<text> (?: \\. | [^"\\\n] )* )"
  | '(?P<plain> [^'\n]* )'
  | \[(?P<set> \^? (?: \\. | [^\]\\] )* )\]
  | \#x(?P<code> [0-9A-Fa-f]+ )
  | (?P<token> <[^<>\s\[\]]+> )
  | (?P<count> [*+?] | \{ \s* \d+ \s* (?: , \s* \d* \s* )? \} )
  | (?P<dot> \. )
  | (?P<mark> [|()] )
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_SHORT = {"n": "\n", "r": "\r", "t": "\t"}
_COUNTS = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_ANY = inside(complement(()))


def read(text: str) -> Rules:
    """The rules that the grammar describes; its special tokens are literals that may be tokens.

    Raises:
        GrammarError: It is no such grammar; the text says the line.
    """
    return rules_of(_symbols(text), ["root"])


def _symbols(text: str) -> Iterator[Symbol]:
    position, counted, line = 0, 0, 1
    while position < len(text):
        found = _SYMBOL.match(text, position)
        line, counted = line + text.count("\n", counted, position), position
        if found is None:
            said = text[position : position + 20].partition("\n")[0]
            raise GrammarError(f"In line {line} of the grammar, {_why(said)}.")
        position = found.end()
        if found.lastgroup != "space":
            yield _symbol(found, line)


def _why(said: str) -> str:
    if said.startswith("="):
        return "rules are written with `::=`; the notation of ISO 14977 is not read"
    if said.startswith("-"):
        return "exceptions (`A - B`) are not read; name the characters that are left"
    return f"this cannot be read: {said!r}"


def _symbol(found: re.Match[str], line: int) -> Symbol:
    kind, text = found.lastgroup, found[found.lastgroup or 0]
    match kind:
        case "rule" | "name" | "mark":
            return Word(kind=kind, text=text, line=line)
        case "count":
            least, most = counts(text)
            return Count(least=least, most=most, line=line)
        case "text":
            return Leaf(shape=Exact(_ESCAPE.sub(lambda escape: _unescaped(escape, line), text)), line=line)
        case "plain":
            return Leaf(shape=Exact(text), line=line)
        case "code":
            return Leaf(shape=Exact(_character(int(text, 16), line)), line=line)
        case "token":
            return Leaf(shape=Exact(text, token=True), line=line)
        case "set":
            return Leaf(shape=Characters(_set(text, line), at_least=1, at_most=1), line=line)
        case _:
            return Leaf(shape=Characters(_ANY, at_least=1, at_most=1), line=line)


def counts(text: str) -> tuple[int, int | None]:
    """How often: `*`, `+`, `?`, `{2}`, `{2,}` or `{2,5}`."""
    if text in _COUNTS:
        return _COUNTS[text]
    least, comma, most = (part.strip() for part in text[1:-1].partition(","))
    return int(least), int(most) if most else None if comma else int(least)


def _set(text: str, line: int) -> str:
    """The inside of a character class; the W3C's characters by number as everybody reads them."""
    text = re.sub(r"#x([0-9A-Fa-f]+)", r"\\x{\1}", text)
    try:
        is_empty = not character_class(text).included
    except GrammarError as error:
        raise GrammarError(f"In line {line} of the grammar: {error}") from None
    if is_empty:
        raise GrammarError(f"In line {line} of the grammar: the class [{text}] has no character.")
    return text


def _unescaped(escape: re.Match[str], line: int) -> str:
    *digits, letter = escape.groups()
    if letter is None:
        return _character(int(next(filter(None, digits)), 16), line)
    if letter.isalnum() and letter not in _SHORT:
        raise GrammarError(f"In line {line} of the grammar, the escape \\{letter} is not known.")
    return _SHORT.get(letter, letter)


def _character(code: int, line: int) -> str:
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise GrammarError(f"In line {line} of the grammar, U+{code:04X} is no character.")
    return chr(code)
