"""The functions of `re`, and the methods of a match; in all they give, every argument has a part."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from wieldy.sandbox.tracked.containers import new_list
from wieldy.sandbox.tracked.function_calls import FunctionCall
from wieldy.sandbox.tracked.matching import Places, all_matches, match_at
from wieldy.sandbox.tracked.method_calls import MethodCall
from wieldy.sandbox.tracked.objects import MatchObject, TupleObject, Value, raised
from wieldy.sandbox.tracked.patterns import DOTALL, IGNORECASE, MULTILINE, Pattern, PatternError, read_pattern

FLAGS: Final[dict[str, object]] = {
    "re.I": IGNORECASE,
    "re.IGNORECASE": IGNORECASE,
    "re.M": MULTILINE,
    "re.MULTILINE": MULTILINE,
    "re.S": DOTALL,
    "re.DOTALL": DOTALL,
}
_REFERENCE: Final = re.compile(r"\\(?:g<(\w{1,60})>|(\d{1,2})|(.?))", re.DOTALL)


def _given(call: FunctionCall, texts: int, *others: str) -> tuple[Pattern, list[str], dict[str, int]]:
    """The pattern, the texts behind it, and whole numbers by the names of the last parameters."""
    names = (*others, "flags")
    call.takes(texts + 1, texts + 1 + len(names), *names)
    numbers = {name: call.keywords[name].data for name in call.keywords}
    numbers |= dict(zip(names, [given.data for given in call.arguments[texts + 1 :]], strict=False))
    given: list[Any] = [argument.data for argument in call.arguments[: texts + 1]]
    if not all(isinstance(one, str) for one in given) or not all(isinstance(one, int) for one in numbers.values()):
        raise raised("TypeError", f"{call.name}() takes text, and numbers for {', '.join(names)}", call.label)
    flags = numbers.pop("flags", 0)
    if flags & ~(IGNORECASE | MULTILINE | DOTALL):
        raise raised("ValueError", "the flags are re.IGNORECASE, re.MULTILINE and re.DOTALL", call.label)
    call.meter.charge(len(given[0]))
    try:
        pattern = read_pattern(given[0], flags)
    except PatternError as error:
        raise raised("ValueError", f"{call.name}(): {error}", call.label) from None
    call.meter.charge(len(pattern.instructions))
    return pattern, given[1:], numbers


def _finding(*, is_anchored: bool, is_whole: bool) -> Callable[[FunctionCall], Value]:
    def find(call: FunctionCall) -> Value:
        pattern, (text,), _ = _given(call, 1)
        places = match_at(pattern, text, 0, call.meter, is_anchored=is_anchored, is_whole=is_whole)
        return Value(None if places is None else MatchObject(text, places, pattern.names), call.label)

    return find


def _finditer(call: FunctionCall) -> Value:
    pattern, (text,), _ = _given(call, 1)
    found = [MatchObject(text, places, pattern.names) for places in all_matches(pattern, text, call.meter)]
    return new_list([Value(one, call.label) for one in found], call.label, call.meter)


def _findall(call: FunctionCall) -> Value:
    pattern, (text,), _ = _given(call, 1)
    found: list[Value] = []
    for places in all_matches(pattern, text, call.meter):
        parts = [Value(part or "", call.label) for part in _groups(text, places, call)]
        found.append(
            parts[min(1, pattern.groups)] if pattern.groups < 2 else Value(TupleObject(tuple(parts[1:])), call.label)
        )
    return new_list(found, call.label, call.meter)


def _groups(text: str, places: Places, call: FunctionCall | MethodCall) -> list[str | None]:
    pairs = zip(places[::2], places[1::2], strict=True)
    return [call.meter.text(text[start:end]) if start >= 0 <= end else None for start, end in pairs]


def _split(call: FunctionCall) -> Value:
    pattern, (text,), numbers = _given(call, 1, "maxsplit")
    parts: list[str | None] = []
    at = 0
    for places in all_matches(pattern, text, call.meter, most=max(0, numbers.get("maxsplit", 0))):
        parts += [call.meter.text(text[at : places[0]]), *_groups(text, places, call)[1:]]
        at = places[1]
    parts.append(call.meter.text(text[at:]))
    return new_list([Value(part, call.label) for part in parts], call.label, call.meter)


def _sub(call: FunctionCall) -> Value:
    pattern, (template, text), numbers = _given(call, 2, "count")
    made: list[str] = []
    at = 0
    for places in all_matches(pattern, text, call.meter, most=max(0, numbers.get("count", 0))):
        made += [call.meter.text(text[at : places[0]]), _filled(template, pattern, text, places, call)]
        at = places[1]
    made.append(text[at:])
    call.meter.make(sum(map(len, made)))
    return Value("".join(made), call.label)


def _filled(template: str, pattern: Pattern, text: str, places: Places, call: FunctionCall) -> str:
    groups = _groups(text, places, call)
    made: list[str] = []
    at = 0
    for found in _REFERENCE.finditer(template):
        made += [template[at : found.start()], _referred(found, pattern, groups, call)]
        at = found.end()
    made.append(template[at:])
    call.meter.make(sum(map(len, made)))
    return "".join(made)


def _referred(found: re.Match[str], pattern: Pattern, groups: list[str | None], call: FunctionCall) -> str:
    if found[3] is not None:
        known = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}.get(found[3])
        if known is None:
            raise raised("ValueError", f"re.sub(): \\{found[3]} means nothing in what replaces", call.label)
        return known
    name = found[1] or found[2]
    number = int(name) if name.isdecimal() else pattern.names.get(name, -1)
    if not 0 <= number <= pattern.groups:
        raise raised("ValueError", f"re.sub(): there is no group {name}", call.label)
    return groups[number] or ""


REGULAR: Final[dict[str, Callable[[FunctionCall], Value]]] = {
    "re.search": _finding(is_anchored=False, is_whole=False),
    "re.match": _finding(is_anchored=True, is_whole=False),
    "re.fullmatch": _finding(is_anchored=True, is_whole=True),
    "re.findall": _findall,
    "re.finditer": _finditer,
    "re.split": _split,
    "re.sub": _sub,
}


def _number(call: MethodCall, key: object) -> int:
    match: MatchObject = call.data
    number = match.names.get(key, -1) if isinstance(key, str) else key
    if not isinstance(number, int) or not 0 <= number < len(match.places) // 2:
        raise raised("IndexError", "there is no such group", call.label)
    return number


def _group(call: MethodCall) -> Value:
    groups = _groups(call.data.text, call.data.places, call)
    keys = [argument.data for argument in call.arguments] or [0]
    found = [Value(groups[_number(call, key)], call.label) for key in keys]
    return found[0] if len(found) == 1 else Value(TupleObject(tuple(found)), call.label)


def _all_groups(call: MethodCall) -> Value:
    groups = _groups(call.data.text, call.data.places, call)[1:]
    return Value(TupleObject(tuple(Value(group, call.label) for group in groups)), call.label)


def _place(which: int) -> Callable[[MethodCall], Value]:
    def give(call: MethodCall) -> Value:
        key = call.argument(0, Value(0)).data
        return Value(call.data.places[2 * _number(call, key) + which], call.label)

    return give


MATCH_METHODS: Final[dict[str, Callable[[MethodCall], Value]]] = {
    "group": _group,
    "groups": _all_groups,
    "start": _place(0),
    "end": _place(1),
}
