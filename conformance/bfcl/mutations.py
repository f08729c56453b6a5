"""Replies to BFCL's tasks, right and wrong, by the thousand: answers from the data, changed by chance from a seed.

Values are changed as models get them wrong (types, spelling, order, left out, invented) and as no model would; Python
text is written in ways that a reader of syntax trees has to tell apart.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from wieldy.evals.bfcl.data import BfclTask

Calls = list[dict[str, dict[str, Any]]]


class Mutations:
    """Endless changed replies; the same seed gives the same ones."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def answers(self, task: BfclTask) -> Calls:
        """One of the listed answers, each value by chance."""
        calls = list[dict[str, dict[str, Any]]]()
        for answer in task.answers:
            ((name, parameters),) = answer.items()
            arguments = dict[str, Any]()
            for parameter, values in parameters.items():
                value = self.chance.choice(values) if values else ""
                if value == "" and "" in values:
                    continue
                arguments[parameter] = self._plain(value)
            calls.append({name: arguments})
        if task.category.language != "python":
            for call in calls:
                for arguments in call.values():
                    arguments.update({key: self._literal(task, value) for key, value in arguments.items()})
        return calls

    def changed(self, task: BfclTask) -> Calls:
        """An answer with up to three changes."""
        calls = self.answers(task) or [{"invented.function": {"a": 1}}]
        for _ in range(self.chance.choice((0, 1, 1, 1, 2, 3))):
            self._change(calls)
        return calls

    def text(self, calls: Calls) -> str:
        """The calls as Python, written in one of many ways."""
        written = ", ".join(self._call(name, arguments) for call in calls for name, arguments in call.items())
        opening, closing = self.chance.choice((("[", "]"),) * 6 + (("(", ",)"), ("{", "}"), ("", ""), ("[", "")))
        text = f"{opening}{written}{closing}"
        return self.chance.choice((str, str, str, str, _spaced, _quoted, _told, _repeated, _positional))(text)

    def changed_task(self, task: BfclTask) -> BfclTask:
        """The task with other answers or other types, as no data has them."""
        answers, functions = copy.deepcopy(task.answers), copy.deepcopy(task.functions)
        for answer in answers:
            for parameters in answer.values():
                for name, values in parameters.items():
                    if self.chance.random() < 0.5:
                        parameters[name] = [
                            self._other(each) if self.chance.random() < 0.5 else each for each in values
                        ]
                        parameters[name] += self.chance.choice(([], [""], [[]], [{}]))
        for function in functions:
            for detail in function["parameters"]["properties"].values():
                if self.chance.random() < 0.1:
                    detail["type"] = self.chance.choice(("string", "integer", "float", "array", "dict", "tuple", "any"))
        return replace(task, answers=answers, functions=functions)

    def literal_case(self, task: BfclTask) -> tuple[BfclTask, Calls]:
        """A task with one parameter of a chosen type, and a literal for it: right, nearly right, or of another type."""
        is_java = task.category.language == "java"
        kind, item, text, value = self.chance.choice(_JAVA_CASES if is_java else _JAVASCRIPT_CASES)
        detail = {"type": kind, "description": ""} | ({"items": {"type": item}} if item else {})
        parameters = {"type": "dict", "properties": {"x": detail}, "required": ["x"]}
        function = {"name": "f", "description": "", "parameters": parameters}
        options = self.chance.choice(([value], [value, ""], [self._other(value), value], [self._other(value)]))
        written = self.chance.choice((text, text, _typo(self.chance, text), f" {text} "))
        return replace(task, functions=(function,), answers=({"f": {"x": options}},)), [{"f": {"x": written}}]

    # Values

    def _plain(self, value: Any) -> Any:
        """Within a dictionary every member lists its alternatives."""
        if isinstance(value, dict):
            members = {
                key: self.chance.choice(listed) if isinstance(listed, list) and listed else listed
                for key, listed in value.items()
            }
            return {key: self._plain(member) for key, member in members.items() if member != ""}
        return [self._plain(each) for each in value] if isinstance(value, list) else value

    def _literal(self, task: BfclTask, value: Any) -> Any:
        is_java = task.category.language == "java"
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, list):
            items = ", ".join(self._item(each) for each in value)
            java = (
                f"new String[]{{{items}}}",
                f"new ArrayList<>(Arrays.asList({items}))",
                f"new ArrayList<String>() {{{{ {self._added(value)} }}}}",
            )
            return self.chance.choice(java if is_java else (f"[{items}]", f"new Array({items})", f" [ {items} ] "))
        if isinstance(value, dict):
            puts = "; ".join(f'put("{key}", {self._item(each)})' for key, each in value.items())
            members = ", ".join(f'"{key}": {self._item(each)}' for key, each in value.items())
            return f"new HashMap<String, Object>() {{{{ {puts}; }}}}" if is_java else f"{{{members}}}"
        if isinstance(value, int | float):
            return f"{value}{self.chance.choice(('', '', 'L', 'f', 'n', '.0'))}"
        return self.chance.choice((value, value, f'"{value}"', f"'{value}'"))

    def _item(self, value: Any) -> str:
        if isinstance(value, list):
            return "[" + ", ".join(map(self._item, value)) + "]"
        if isinstance(value, bool):
            return str(value).lower()
        return self.chance.choice((f'"{value}"', f"'{value}'", str(value))) if isinstance(value, str) else str(value)

    def _added(self, values: list[Any]) -> str:
        return " ".join(f"add({self._item(value)});" for value in values)

    def _change(self, calls: Calls) -> None:
        if not calls:
            calls.append({"f": {}})
            return
        change = self.chance.choice(self._CALLS if self.chance.random() < 0.25 else (Mutations._value,))
        change(self, calls)

    def _value(self, calls: Calls) -> None:
        ((_, arguments),) = self.chance.choice(calls).items()
        if not arguments:
            arguments["extra"] = 1
            return
        name = self.chance.choice(list(arguments))
        arguments[name] = self._other(arguments[name])

    def _drop_argument(self, calls: Calls) -> None:
        ((_, arguments),) = self.chance.choice(calls).items()
        if arguments:
            del arguments[self.chance.choice(list(arguments))]

    def _add_argument(self, calls: Calls) -> None:
        ((_, arguments),) = self.chance.choice(calls).items()
        arguments[self.chance.choice(("extra", "unit", "name", "id"))] = self.chance.choice(
            (1, "x", None, [], "", True)
        )

    def _rename(self, calls: Calls) -> None:
        at = self.chance.randrange(len(calls))
        ((name, arguments),) = calls[at].items()
        calls[at] = {
            self.chance.choice((name.replace(".", "_"), name + "2", name.lower(), name[:-1] or "f")): arguments
        }

    def _drop_call(self, calls: Calls) -> None:
        del calls[self.chance.randrange(len(calls))]

    def _repeat_call(self, calls: Calls) -> None:
        calls.append(self.chance.choice(calls))

    def _shuffle(self, calls: Calls) -> None:
        self.chance.shuffle(calls)

    def _swap_arguments(self, calls: Calls) -> None:
        ((_, arguments),) = self.chance.choice(calls).items()
        values = list(arguments.values())
        self.chance.shuffle(values)
        arguments.update(zip(list(arguments), values, strict=True))

    _CALLS = (_drop_argument, _add_argument, _rename, _drop_call, _repeat_call, _shuffle, _swap_arguments)

    def _other(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.chance.choice(_TEXTS)(self.chance, value)
        if isinstance(value, bool):
            return self.chance.choice((not value, int(value), str(value), str(value).lower(), None))
        if isinstance(value, int | float):
            return self.chance.choice(
                (
                    value + 1,
                    -value,
                    float(value),
                    str(value),
                    [value],
                    bool(value),
                    None,
                    value * 10**9,
                    1.0 * value / 3,
                )
            )
        if isinstance(value, dict) and value:
            return self._other_dictionary(value)
        if isinstance(value, list) and value:
            return self._other_list(value)
        return self.chance.choice(("", 0, [], {}, None, [""], {"a": 1}, ()))

    def _other_list(self, value: list[Any]) -> Any:
        at = self.chance.randrange(len(value))
        changed = [self._other(each) if index == at else each for index, each in enumerate(value)]
        return self.chance.choice(
            (
                changed,
                changed,
                value[::-1],
                value[:-1],
                [*value, value[0]],
                tuple(value),
                value[0],
                str(value),
                [value],
                {},
            )
        )

    def _other_dictionary(self, value: dict[str, Any]) -> Any:
        key = self.chance.choice(list(value))
        without = {name: each for name, each in value.items() if name != key}
        changed = {**value, key: self._other(value[key])}
        return self.chance.choice(
            (changed, changed, changed, without, {**value, "extra": 1}, list(value.values()), [value], str(value), {})
        )

    # Python

    def _call(self, name: str, arguments: dict[str, Any]) -> str:
        parts = [f"{key}={self._written(value)}" for key, value in arguments.items()]
        return f"{name}({', '.join(parts)})"

    def _written(self, value: Any) -> str:
        if self.chance.random() < 0.12:
            return self.chance.choice(_EXPRESSIONS)
        if isinstance(value, bool):
            return self.chance.choice((repr(value), repr(value), str(value).lower(), f"not {not value}"))
        if isinstance(value, int) and self.chance.random() < 0.3:
            return self.chance.choice(
                (f"{value}.0", f"{value - 1} + 1", f"--{abs(value)}", f"+{abs(value)}", f"{value} * 1", f"({value})")
            )
        if isinstance(value, list) and self.chance.random() < 0.15:
            return f"({', '.join(map(repr, value))},)" if value else "()"
        return repr(value)


def has_rare_types(task: BfclTask) -> bool:
    """Whether the task has parameters of types that few tasks have: tuples, objects, lists of objects or of lists."""
    details = [each for function in task.functions for each in function["parameters"]["properties"].values()]
    items = [each["items"].get("type") for each in details if isinstance(each.get("items"), dict)]
    return any(each["type"] in ("tuple", "dict") for each in details) or bool({"dict", "array", "tuple"} & set(items))


def _typo(chance: random.Random, text: str) -> str:
    at = chance.randrange(len(text) + 1)
    return text[:at] + chance.choice("x 7-._,/*'\"\n{}[]()Ln") + text[at + chance.randrange(2) :]


_TEXTS: tuple[Callable[[random.Random, str], Any], ...] = (
    *(_typo,) * 4,
    lambda _, text: text.upper(),
    lambda _, text: f" {text}. ",
    lambda _, text: text.replace("-", "*").replace("/", ""),
    lambda _, text: text.replace(" ", "_").replace("'", '"'),
    lambda _, text: text.replace(",", ""),
    lambda _, text: text[::-1],
    lambda _, text: [text],
    lambda _, text: {"value": text},
    lambda _, text: int(text) if text.isdecimal() and len(text) < 18 else len(text),
    lambda _, text: f'"{text}"',
    lambda _, __: "",
    lambda _, __: None,
    lambda chance, _: chance.choice(_LITERALS),
)

_JAVA_CASES: tuple[tuple[str, str | None, str, Any], ...] = (
    ("float", None, "3.5f", 3.5),
    ("float", None, "-2e3F", -2000.0),
    ("double", None, "3.5e-1", 0.35),
    ("long", None, "-7L", -7),
    ("byte", None, "127", 127),
    ("boolean", None, "true", True),
    ("char", None, "'c'", "'c'"),
    ("Array", "integer", "new int[]{1, 2}", [1, 2]),
    ("Array", "float", "new float[] {1.5f, 2f}", [1.5, 2.0]),
    ("Array", "String", "new String[]{a, b}", ["a", "b"]),
    ("ArrayList", "String", 'new ArrayList<>(Arrays.asList("a", "b"))', ["a", "b"]),
    ("ArrayList", "long", "new ArrayList<Long>() {{ add(1L); add(2L); }}", [1, 2]),
    ("ArrayList", "char", "new ArrayList<>(Arrays.asList('a','b'))", ["a", "b"]),
    ("ArrayList", "integer", "new ArrayList<Integer>()", []),
    ("HashMap", None, 'new HashMap<String, Object>() {{ put("k", 1); put("m", 2.5f); }}', {"k": [1], "m": [2.5]}),
    ("HashMap", None, "new HashMap<>()", {}),
    ("Hashtable", None, "new Hashtable<>()", {}),
    ("Queue", None, "new Queue()", []),
    ("any", None, "anything", "anything"),
)

_JAVASCRIPT_CASES: tuple[tuple[str, str | None, str, Any], ...] = (
    ("String", None, '"a b"', "a b"),
    ("integer", None, "-7", -7),
    ("float", None, "2.50", 2.5),
    ("Bigint", None, "9n", 9),
    ("Boolean", None, "false", False),
    ("array", "integer", "[1, 2]", [1, 2]),
    ("array", "Bigint", "new Array(1n, 2n)", [1, 2]),
    ("array", "String", "['a', \"b\"]", ["a", "b"]),
    ("array", "array", "[[1, 2], [3, 4]]", [[1, 2], [3, 4]]),
    ("array", "array", "new Array([1, 'a'], [true])", [[1, "a"], [True]]),
    ("array", "dict", "[{'a': 1}]", [{"a": [1]}]),
    ("array", "any", "[]", []),
    ("dict", None, "{'a': 1, b: \"x\", c: [1, 2]}", {"a": [1], "b": ["x"], "c": [[1, 2]]}),
    ("dict", None, "{}", {}),
    ("any", None, "x", "x"),
)

_LITERALS = (
    *("true", "null", "1", "3.5f", "7L", "8n", "[1,2]", "[[1],[2,'a']]", "{}", "{a: 1}"),
    *("new int[]{1, 2}", "new HashMap<>()", "new ArrayList<>()", "new Array(1)"),
)

_WRITTEN = """
    1 + 2; 2 ** 10; 7 // 2; 1 / 3; 'a' + 'b'; [1] + [2]; (1, 2); [1, (2, 3)]; {'a': 1}; {}; {1: 2}; {1, 2}; None; ...;
    true; null; undefined; x; x.y; x[0]; x[1:2]; f(); f(1); f(a=1); g.h(a=[1]); -1; -1.5; ~5; not True; -x; -'a';
    lambda: 1; f'{1}'; b'a'; 1j; 1 if True else 2; 1 < 2; True and False; *[1]; 'a' 'b'; 1_000; 0x10; 1e400; -(-1);
    1 - -1; 'a' * 3; 1 / 0; 1 << 3; 6 & 3; 6 | 1; 6 ^ 2; 5 % 3; -2 ** 2; [x for x in [1]]; (y := 1); []; x + 1;
    f() + 1; ''; 'a\\d'; 'a' + x; [1] * 2; 2 ** -1; 3 @ 2
"""
_EXPRESSIONS = tuple(part.strip() for part in _WRITTEN.split(";"))


def _spaced(text: str) -> str:
    return f"\n  {text} \n"


def _quoted(text: str) -> str:
    return f"'{text}'"


def _told(text: str) -> str:
    return f"Sure: {text}"


def _repeated(text: str) -> str:
    return f"{text}\n{text}"


def _positional(text: str) -> str:
    return text.replace("(", "(1, ", 1)


def texts_that_are_no_calls() -> Iterator[str]:
    """What models write instead of calls."""
    yield from (
        "",
        " ",
        "[]",
        "[{}]",
        "()",
        "I cannot do that.",
        "HTTP 500",
        '{"error": "x"}',
        "None",
        "f",
        "1",
        "'f(a=1)'",
    )
