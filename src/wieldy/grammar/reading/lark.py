"""Lark in the dialect of llguidance, as far as it is a context-free grammar over texts.

Read are rules and terminals, `"text"` (also `"text"i`), `/regular expressions/`, `"a".."z"`, groups, `[optional]`,
`* + ?`, `{2,5}` and `~ 2..5`, `%json`, aliases, and special tokens by name (`<think>`). The grammar starts at `start`.
Not read are `%ignore`, imports, templates, priorities, attributes of rules, tokens by number, `&` and `~` on terminals:
such a grammar can be enforced by its engine, but nothing else is known of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from wieldy.core.errors import GrammarError
from wieldy.grammar.reading.ebnf import counts
from wieldy.grammar.reading.regex import whole
from wieldy.grammar.reading.rules import Count, Leaf, Symbol, Word, rules_of
from wieldy.grammar.shape import Characters, Exact, Json, Rules, Shape

_STRING = r'"(?: \\. | [^"\\\n] )*"'
_NAMED = r"<[^<>\s\[\]]+>"
_SYMBOL = re.compile(
    rf"""
    (?P<space> \s+ | //[^\n]* | \#[^\n]* | ->[ \t]*\w+ )
  | (?P<range> {_STRING} \s* \.\. \s* {_STRING} )
  | (?P<text> {_STRING} i? )
  | (?P<regex> /(?![*/]) (?: \\. | [^/\\\n] )+ /[a-z]* )
  | (?P<json> %json (?= \s* \{{ ) )
  | (?P<token> {_NAMED} )
  | (?P<rule> [?!]? [A-Za-z_]\w* ) [ \t]* :
  | (?P<count> [*+?] | \{{ \s* \d+ \s* (?: , \s* \d* \s* )? \}} )
  | ~ \s* (?P<times> \d+ (?: \s*\.\.\s* \d+ )? )
  | (?P<name> [A-Za-z_]\w* )
  | (?P<mark> [|()\[\]] )
    """,
    re.VERBOSE | re.DOTALL,
)

_TOKEN = re.compile(
    rf"{_STRING} | /(?![*/]) (?: \\. | [^/\\\n] )+ / | (?://|\#)[^\n]* | (?P<token> {_NAMED} )", re.VERBOSE | re.DOTALL
)


def read(text: str) -> Rules:
    """The rules that the grammar describes; its special tokens are literals that may be tokens.

    Raises:
        GrammarError: It has what is not read here; the text says the line.
    """
    return rules_of(_symbols(text), ["start"])


def with_ids(text: str, special_tokens: Mapping[str, int]) -> str:
    """The grammar with its special tokens by number instead of by name.

    Raises:
        GrammarError: It names one that is not among these.
    """

    def number(found: re.Match[str]) -> str:
        name = found["token"]
        if name is None:
            return found[0]
        if name not in special_tokens:
            raise GrammarError(
                f"The grammar names {name}: say in `special_tokens` which token of the vocabulary that is."
            )
        return f"<[{special_tokens[name]}]>"

    return _TOKEN.sub(number, text)


def _symbols(text: str) -> Iterator[Symbol]:
    position, counted, line = 0, 0, 1
    while position < len(text):
        found = _SYMBOL.match(text, position)
        line, counted = line + text.count("\n", counted, position), position
        if found is None:
            said = text[position : position + 20].partition("\n")[0]
            raise GrammarError(f"In line {line} of the grammar, this is not read: {said!r}.")
        position = found.end()
        if found.lastgroup == "json":
            schema, position = _schema(text, position, line)
            yield Leaf(shape=schema, line=line)
        elif found.lastgroup != "space":
            yield _symbol(found, line)


def _symbol(found: re.Match[str], line: int) -> Symbol:
    kind, text = found.lastgroup, found[found.lastgroup or 0]
    match kind:
        case "rule":
            return Word(kind="rule", text=text.lstrip("?!"), line=line)
        case "name" | "mark":
            return Word(kind=kind, text=text, line=line)
        case "count":
            least, most = counts(text)
            return Count(least=least, most=most, line=line)
        case "times":
            least, _, most = text.partition("..")
            return Count(least=int(least), most=int(most or least), line=line)
        case _:
            return Leaf(shape=_leaf(str(kind), text, line), line=line)


def _leaf(kind: str, text: str, line: int) -> Shape:
    match kind:
        case "text" if text.endswith("i"):
            return whole(re.escape(_string(text[:-1], line)), ignores_case=True)
        case "text":
            return Exact(_string(text, line))
        case "regex":
            pattern, _, flags = text[1:].rpartition("/")
            return whole((f"(?{flags})" if flags else "") + pattern.replace("\\/", "/"))
        case "token":
            return Exact(text, token=True)
        case _:
            first, last = (_string(end.strip(), line) for end in re.findall(_STRING, text, re.VERBOSE))
            if len(first) != 1 or len(last) != 1:
                raise GrammarError(f"In line {line} of the grammar, expected a range of characters, found {text}.")
            return Characters(f"\\x{{{ord(first):X}}}-\\x{{{ord(last):X}}}", at_least=1, at_most=1)


def _string(text: str, line: int) -> str:
    try:
        return json.loads(re.sub(r"\\x([0-9a-fA-F]{2})", r"\\u00\1", text))
    except ValueError:
        raise GrammarError(f"In line {line} of the grammar, the text {text} has an escape that is not known.") from None


def _schema(text: str, position: int, line: int) -> tuple[Shape, int]:
    start = text.index("{", position)
    try:
        schema, end = json.JSONDecoder().raw_decode(text, start)
    except ValueError as error:
        raise GrammarError(f"In line {line} of the grammar, %json has no JSON Schema behind it: {error}.") from None
    return Json(schema), end
