"""A small recogniser of GBNF, after llama.cpp's description of it: every reading is followed at once.

It knows what the printer writes: literals, classes, groups, alternatives and counts.
"""

import re

_TOKEN = re.compile(
    r'\s*(?:"(?P<text>(?:\\.|[^"\\])*)"|\[(?P<set>(?:\\.|[^\]\\])*)\]|(?P<count>\{\d+(?:,\d*)?\}|[*+?])|(?P<mark>[()|])|(?P<name>[a-zA-Z0-9-]+))'
)
_ESCAPE = re.compile(r"\\x(..)|\\u(....)|\\U(........)|\\(.)|(.)", re.DOTALL)


class Recogniser:
    def __init__(self, grammar):
        self.rules = {}
        for line in grammar.splitlines():
            name, expression = line.split(" ::= ", 1)
            assert name not in self.rules, name
            self.rules[name] = _alternatives(_tokens(expression))

    def accepts(self, text):
        """Whether the whole text is one of the root's."""
        states = self._ready({("root", None)})
        for character in text:
            states = self._ready({rest for (_, chosen), rest in filter(None, states) if character in chosen})
        return None in states

    def _ready(self, stacks):
        """The stacks with a character set on top that the given ones stand for; None is the empty stack.

        A stack is a linked list `(item, rest)`, where an item is a rule's name or a parsed expression.
        """
        ready, seen, waiting = set(), set(), list(stacks)
        while waiting:
            stack = waiting.pop()
            if stack in seen:
                continue
            seen.add(stack)
            if stack is None or (isinstance(stack[0], tuple) and stack[0][0] == "set"):
                ready.add(stack)
            else:
                waiting += self._expanded(*stack)
        return ready

    def _expanded(self, item, rest):
        if isinstance(item, str):
            return [(self.rules[item], rest)]
        kind, *inside = item
        if kind == "or":
            return [(option, rest) for option in inside]
        if kind == "seq":
            for part in reversed(inside):
                rest = (part, rest)
            return [rest]
        _, part, least, most = item
        if least:
            return [(part, (("count", part, least - 1, None if most is None else most - 1), rest))]
        if most == 0:
            return [rest]
        return [rest, (part, (("count", part, 0, None if most is None else most - 1), rest))]


class Set:
    def __init__(self, inside):
        self.negated = inside.startswith("^")
        found = [_unescaped(match) for match in _ESCAPE.finditer(inside[self.negated :])]
        self.ranges = []
        while found:
            if len(found) > 2 and found[1] == ("-", False):
                self.ranges.append((found[0][0], found[2][0]))
                found = found[3:]
            else:
                self.ranges.append((found[0][0], found[0][0]))
                found = found[1:]

    def __contains__(self, character):
        return any(first <= character <= last for first, last in self.ranges) is not self.negated


def _unescaped(match):
    two, four, eight, escaped, plain = match.groups()
    if digits := two or four or eight:
        return chr(int(digits, 16)), True
    return (escaped, True) if escaped else (plain, False)


def _tokens(expression):
    position, found = 0, []
    while position < len(expression.rstrip()):
        match = _TOKEN.match(expression, position)
        assert match, expression[position:]
        found.append((match.lastgroup, match[match.lastgroup]))
        position = match.end()
    return found[::-1]


def _alternatives(tokens):
    options = [_sequence(tokens)]
    while tokens and tokens[-1] == ("mark", "|"):
        tokens.pop()
        options.append(_sequence(tokens))
    return ("or", *options)


def _sequence(tokens):
    parts = []
    while tokens and tokens[-1] not in {("mark", "|"), ("mark", ")")}:
        kind, text = tokens.pop()
        if kind == "text":
            characters = [_unescaped(match)[0] for match in _ESCAPE.finditer(text)]
            part = ("seq", *(("set", frozenset(character)) for character in characters))
        elif kind == "set":
            part = ("set", Set(text))
        elif kind == "mark":
            part = _alternatives(tokens)
            assert tokens.pop() == ("mark", ")")
        else:
            part = text
        if tokens and tokens[-1][0] == "count":
            part = ("count", part, *_bounds(tokens.pop()[1]))
        parts.append(part)
    return ("seq", *parts)


def _bounds(count):
    if count in "*+?":
        return {"*": (0, None), "+": (1, None), "?": (0, 1)}[count]
    least, comma, most = count[1:-1].partition(",")
    return int(least), int(most) if most else None if comma else int(least)
