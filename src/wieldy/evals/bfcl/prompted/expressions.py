"""Expressions of Java and JavaScript as trees: what a call is written with, and nothing that could be run.

A recursive descent over tokens that are taken where they are wanted. Of bodies (of classes, functions, lambdas) only
the brackets are looked at. Comments, statements and declarations are refused. Deliberately not here: what the trees
come to (`java`, `javascript`).
"""

from __future__ import annotations

import re
from typing import Final

from wieldy.evals.bfcl.decoding import DecodingError
from wieldy.evals.bfcl.prompted.tokens import TEMPLATE, Grammar, Node, Tokens, joined

MOST_NESTED: Final = 100
"""Expressions within expressions."""

_NAME: Final = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
_PATTERN: Final = re.compile(r"/(?![/*])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
_MEMBERS: Final = re.compile(r"\{\s*(?:[@}]|[^\W\d])")
_STATEMENT: Final = re.compile(
    r"(?:if|for|while|do|switch|try|return|throw|break|continue|class|import|export|const|var|with|debugger|enum"
    r"|interface|package|assert|synchronized)\b"
)
_LABEL: Final = re.compile(r"\s*(?:[^\W\d]|\$)[\w$]*\s*:(?!:)")
_OPERAND: Final = re.compile(r"[\w\"'(!~]")
_FUNCTION: Final = re.compile(r"(?:async\s+)?function\b\s*\*?\s*[\w$]*\s*\(|async\s*\(")


class Reader(Tokens):
    """Reads expressions from a text.

    Raises:
        DecodingError: From every method: the text has something else there.
    """

    def __init__(self, text: str, grammar: Grammar) -> None:
        super().__init__(text, grammar)
        self._depth = 0
        self._operands = ((grammar.strings, "string"), (grammar.numbers, "number"), (_NAME, "name"))

    def statement(self) -> Node:
        """An expression, with a label before it or not; of JavaScript also several with commas between them."""
        self.skip_space()
        if _STATEMENT.match(self.text, self.at) is not None:
            raise self.unexpected("an expression")
        label = self.matched(_LABEL, "token")
        found = self.expression() if self.grammar.language == "java" else self._sequence()
        return found if label is None else joined("labelled", label, found)

    def _sequence(self) -> Node:
        parts = [self.expression()]
        while (comma := self.take(",")) is not None:
            parts += [comma, self.expression()]
        return parts[0] if len(parts) == 1 else joined("sequence", *parts)

    def expression(self) -> Node:
        """An expression, an assignment among them."""
        self._depth += 1
        if self._depth > MOST_NESTED:
            raise DecodingError(f"Expected at most {MOST_NESTED} expressions within one another.")
        found = self._choice()
        self._depth -= 1
        return found

    def _choice(self) -> Node:
        found = self._chain()
        question = self.take("?")
        if question is None:
            return found
        first, colon = self.expression(), self.expect(":")
        return joined("choice", found, question, first, colon, self.expression())

    def _chain(self) -> Node:
        found = self._operand()
        while True:
            sign = self.matched(self.grammar.infixes, "token")
            if sign is None:
                return found
            found = joined("operation", found, sign, self._operand())

    def _operand(self) -> Node:
        signs = list[Node]()
        while (sign := self.matched(self.grammar.prefixes, "token")) is not None:
            signs.append(sign)
        found = self._with_what_follows(self._first())
        if found.kind in ("name", "member", "item") and (
            (assigns := self.matched(self.grammar.assignments, "token")) is not None
        ):
            # As the grammars have it, what is assigned to may stand behind other operators.
            found = joined("assignment", found, assigns, self.expression())
        return joined("operation", *signs, found) if signs else found

    def _with_what_follows(self, found: Node) -> Node:
        """The calls, members and items of what was found."""
        if found.kind == "number" and not (
            self.grammar.language == "javascript" and self.text.startswith(".", self.at)  # a second point
        ):
            return found
        while True:
            if found.kind in ("name", "member", "call") and (opening := self.take("(")) is not None:
                if found.kind == "call" and self.grammar.language == "java":
                    raise self.unexpected("an operator")
                found = joined("call", found, self._arguments(opening))
            elif (dot := self.take("?.") or self.take("::") or self._dot()) is not None:
                found = joined("member", found, dot, self._member())
            elif (opening := self.take("[")) is not None:
                inner = self.expression()
                found = joined("item", found, opening, inner, self.expect("]"))
            elif (sign := self.take("++") or self.take("--")) is not None:
                found = joined("operation", found, sign)
            else:
                return found

    def _dot(self) -> Node | None:
        self.skip_space()
        return None if self.text.startswith("..", self.at) else self.take(".")

    def _member(self) -> Node:
        self.skip_space()
        found = self.matched(_NAME, "name")
        if found is None or (self.grammar.language == "java" and self.text[found.start : found.end] == "new"):
            raise self.unexpected("the name of a member")
        return found

    def _arguments(self, opening: Node) -> Node:
        parts = [opening]
        may_be_empty = self.grammar.language == "javascript"  # what stands between two commas, or behind the last
        closing = self.take(")")
        while closing is None:
            self.skip_space()
            if not (may_be_empty and self.text.startswith(",", self.at)):
                parts.append(self._spread_or_expression())
            comma = self.take(",")
            parts += [comma] if comma is not None else []
            closing = self.take(")") if comma is None or may_be_empty else None
            if comma is None and closing is None:
                raise self.unexpected("`,` or `)`")
        return joined("arguments", *parts, closing)

    # What an operand may begin with

    def _first(self) -> Node:
        self.skip_space()
        if self.text[self.at : self.at + 1] == "(":
            return self._in_parentheses()
        if self.grammar.language == "javascript" and (found := self._first_of_javascript()) is not None:
            return found
        for pattern, kind in self._operands:
            found = self.matched(pattern, kind)
            if found is not None:
                return self._named(found) if kind == "name" else found
        raise self.unexpected("an expression")

    def _named(self, found: Node) -> Node:
        word = self.text[found.start : found.end]
        if word == "new":
            return self._new(found)
        if word in self.grammar.words:
            raise self.unexpected("an expression")
        if (arrow := self.take(self.grammar.arrow)) is not None:
            return joined("function", found, arrow, self._body())
        kind = "literal" if word in ("true", "false", "null", "this", "super") else "name"
        return found._replace(kind=kind)

    def _in_parentheses(self) -> Node:
        opening = self.expect("(")
        at = self.at
        if (found := self._parameters(opening)) is not None:
            return found
        self.at = at
        inner = self.expression() if self.grammar.language == "java" else self._sequence()
        found = joined("parentheses", opening, inner, self.expect(")"))
        if self.grammar.language == "java" and inner.kind in ("name", "member") and self._begins_operand():
            return joined("cast", found, self._operand())
        return found

    def _begins_operand(self) -> bool:
        self.skip_space()
        begins = _OPERAND.match(self.text, self.at) is not None
        return begins and not self.text.startswith("instanceof", self.at)

    def _parameters(self, opening: Node) -> Node | None:
        """A function, if these are its parameters."""
        parts = [opening]
        closing = self.take(")")
        while closing is None:
            name = self.matched(_NAME, "name")
            if name is None:
                return None
            comma, closing = self.take(","), self.take(")")
            if comma is None and closing is None:
                return None
            parts += [name] if comma is None else [name, comma]
        arrow = self.take(self.grammar.arrow)
        return None if arrow is None else joined("function", *parts, closing, arrow, self._body())

    def _body(self) -> Node:
        self.skip_space()
        if not self.text.startswith("{", self.at):
            return self.expression()
        if self.grammar.language == "java":
            raise self.unexpected("an expression and no block")
        return self.skipped("body")

    def _new(self, word: Node) -> Node:
        kind = self._type()
        if (opening := self.take("(")) is not None:
            arguments = self._arguments(opening)
            self.skip_space()
            is_class = self.grammar.language == "java" and self.text.startswith("{", self.at)
            return joined("new", word, kind, arguments, *([self._class_body()] if is_class else []))
        if self.grammar.language == "javascript":
            return joined("new", word, kind)
        dimensions, is_sized = list[Node](), False
        while (opening := self.take("[")) is not None:
            inner = self.take("]")
            is_sized = is_sized or inner is None
            dimensions += [opening, inner] if inner is not None else [opening, self.expression(), self.expect("]")]
        self.skip_space()
        if dimensions and not is_sized:
            return joined("new array", word, kind, *dimensions, self._list("{", "}"))
        raise self.unexpected("`(`, or `[]` and the items")

    def _class_body(self) -> Node:
        """Members of a class; where they are but statements within braces, these are read."""
        start = self.at
        if _MEMBERS.match(self.text, start) is not None:
            return self.skipped("body")
        self.expect("{")
        while self.take("{") is not None:
            while self.take("}") is None:
                self.expression()
                self.expect(";")
        return Node("body", start, self.expect("}").end)

    def _type(self) -> Node:
        parts = [self._member()]
        while (dot := self.take(".")) is not None:
            parts += [dot, self._member()]
        if self.grammar.language == "java" and (opening := self.take("<")) is not None:
            parts += [opening, *self._types(), self.expect(">")]
        return joined("type", *parts)

    def _types(self) -> list[Node]:
        self.skip_space()
        if self.text.startswith(">", self.at):
            return []
        parts = [self._type()]
        while True:
            if (opening := self.take("[")) is not None:
                parts += [opening, self.expect("]")]
            elif (comma := self.take(",")) is not None:
                parts += [comma, self._type()]
            else:
                return parts

    def _list(self, opening: str, closing: str) -> Node:
        """Expressions, or lists of them where it is an array's, with commas between them."""
        parts = [self.expect(opening)]
        end = self.take(closing)
        while end is None:
            self.skip_space()
            is_inner = opening == "{" and self.text.startswith("{", self.at)
            if not (opening == "[" and self.text.startswith(",", self.at)):  # nothing may stand in a place of a list
                parts.append(self._list("{", "}") if is_inner else self._spread_or_expression())
            comma = self.take(",")
            parts += [comma] if comma is not None else []
            end = self.take(closing)
            if comma is None and end is None:
                raise self.unexpected(f"`,` or `{closing}`")
        return joined("list", *parts, end)

    def _spread_or_expression(self) -> Node:
        spread = self.take("...") if self.grammar.language == "javascript" else None
        return self.expression() if spread is None else joined("spread", spread, self.expression())

    # JavaScript alone

    def _first_of_javascript(self) -> Node | None:
        if self.text[self.at : self.at + 1] == "[":
            return self._list("[", "]")
        if self.text[self.at : self.at + 1] == "{":
            return self._object()
        begun = _FUNCTION.match(self.text, self.at)
        if begun is not None:
            start, self.at = self.at, begun.end() - 1
            self.skipped("parameters")
            self.take(self.grammar.arrow)
            return Node("function", start, self._body().end)
        return self.matched(TEMPLATE, "template") or self.matched(_PATTERN, "pattern")

    def _object(self) -> Node:
        parts = [self.expect("{")]
        end = self.take("}")
        while end is None:
            parts.append(self._pair())
            comma = self.take(",")
            end = self.take("}")
            if comma is None and end is None:
                raise self.unexpected("`,` or `}`")
        return joined("object", *parts, end)

    def _pair(self) -> Node:
        if (spread := self.take("...")) is not None:
            return joined("spread", spread, self.expression())
        self.skip_space()
        computed = self._list("[", "]") if self.text.startswith("[", self.at) else None
        key = (
            computed
            or self.matched(self.grammar.strings, "string")
            or self.matched(self.grammar.numbers, "number")
            or self._member()
        )
        self.skip_space()
        if self.text.startswith("(", self.at):
            self.skipped("parameters")
            return joined("method", key, self.skipped("body"))
        if key.kind == "name" and not self.text.startswith(":", self.at):
            return key
        colon = self.expect(":")
        return joined("pair", key, colon, self.expression())


def statements(text: str, grammar: Grammar) -> list[Node]:
    """The expressions of a text, each a statement; of JavaScript the end of a line ends one as well.

    Raises:
        DecodingError: There is something else in it.
    """
    reader, found = Reader(text, grammar), list[Node]()
    while not reader.is_at_end:
        if reader.take(";") is not None:
            continue
        found.append(reader.statement())
        end = reader.at
        if reader.take(";") is None and not reader.is_at_end:
            is_line = grammar.language == "javascript" and "\n" in text[found[-1].end : reader.at]
            if not is_line:
                raise DecodingError(f"Expected the end of a call, found {text[end : end + 40]!r}.")
    return found
