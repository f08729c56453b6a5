"""What makes a task what it is: whatever is changed in it, its code included, makes another task of it."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy import UsageError, tool
from wieldy.evals.tasks.datasets import suite_from
from wieldy.evals.tasks.identities import identity_of
from wieldy.evals.tasks.task import Condition, ExpectedCall, Task
from wieldy.evals.tasks.task_cases import case_of
from wieldy.evals.tasks.worlds import World

FILE = '''"""Tasks."""

from dataclasses import dataclass
from functools import cache, cached_property, partial

from wieldy import tool
from wieldy.evals import Condition, ExpectedCall, Task, World

STATUS = {"17": "shipped"}  # by number


def unknown(order_id):
    return f"no {order_id}"


@tool(effect="read")
def status(order_id: str) -> str:
    """How far an order is."""
    return STATUS.get(order_id) or unknown(order_id)


class Shop:
    limit = 3

    def __init__(self):
        self.orders = {}

    def _note(self, name):
        self.orders[name] = "noted"

    def order(self, name: str) -> str:
        """Order something."""
        self._note(name)
        return "ordered"


def containing(word):
    return lambda outcome: word in outcome.text


@dataclass
class Checker:
    word: str

    def __call__(self, outcome):
        return self.word in outcome.text

    def named(self, outcome):
        return self.word in outcome.text or "not said"


class Plain:
    def holds(self, outcome):
        return self.words and "plain" in outcome.text

    @cached_property
    def words(self):
        return ("some",)


@cache
def remembered(text):
    return "yes" in text


CHECKER, PLAIN, NAMED = Checker("global"), Plain(), Checker("bound").named
PARTIAL = partial(lambda word, outcome: word in outcome.text, "partial")
WORLD = World(start=Shop, tools=lambda shop: [shop.order], look=lambda shop: shop.orders, changes=("/pen",))
CALL = ExpectedCall(name="status", arguments={"order_id": "17"})
TESTS = (lambda outcome: True), (lambda outcome: "b" in outcome.text)
HELD = tuple(Condition(name=str(number), test=test) for number, test in enumerate(TESTS))
TASKS = [
    Task(id="checked", prompt="Where is 17?", tools=[status], check=containing("shipped"), scripts={"x": (CALL,)}),
    Task(id="held", prompt="Where is 17?", tools=[status], milestones=HELD),
    Task(id="world", prompt="Order a pen.", environment=WORLD),
    Task(id="cached", prompt="?", check=lambda outcome: remembered(outcome.text)),
    Task(id="method", prompt="?", check=Checker("method").named),
    Task(id="instance", prompt="?", check=Checker("instance")),
    Task(id="global", prompt="?", check=lambda outcome: CHECKER(outcome)),
    Task(id="plain", prompt="?", check=lambda outcome: PLAIN.holds(outcome)),
    Task(id="bound", prompt="?", check=lambda outcome: NAMED(outcome)),
    Task(id="partial", prompt="?", check=lambda outcome: PARTIAL(outcome)),
]
'''
CHECKERS = {"method", "instance", "global", "bound"}
EVERY = {"checked", "held", "world", "cached", "plain", "partial", *CHECKERS}
CHANGES = [
    ("# by number", "# by its number\n", set[str]()),
    ("How far an order is.", "How far it is.", {"checked", "held"}),
    ('effect="read"', 'effect="unsafe"', {"checked", "held"}),
    ('{"17": "shipped"}', '{"17": "lost"}', {"checked", "held"}),
    ('f"no {order_id}"', 'f"not {order_id}"', {"checked", "held"}),
    ('containing("shipped")', 'containing("lost")', {"checked"}),
    ("lambda outcome: word in outcome.text", "lambda outcome: word not in outcome.text", {"checked"}),
    ('scripts={"x": (CALL,)}', 'scripts={"x": (CALL, CALL)}', {"checked"}),
    ('"b" in', '"c" in', {"held"}),
    ("lambda outcome: True", "lambda outcome: False", {"held"}),
    ('= "noted"', '= "paid"', {"world"}),
    ("Order something.", "Order it.", {"world"}),
    ("limit = 3", "limit = 4", {"world"}),
    ('return "ordered"', 'return "done"', {"world"}),
    ('"yes" in text', '"no" in text', {"cached"}),
    ('Checker("method").named', 'Checker("another").named', {"method"}),
    ('Checker("instance")', 'Checker("another")', {"instance"}),
    ('Checker("global")', 'Checker("another")', {"global"}),
    ('Checker("bound")', 'Checker("another")', {"bound"}),
    ("        return self.word in outcome.text\n", "        return self.word not in outcome.text\n", CHECKERS),
    ('or "not said"', 'or "never said"', CHECKERS),
    ('and "plain" in', 'and "simple" in', {"plain"}),
    ('("some",)', '("others",)', {"plain"}),
    ('outcome: word in outcome.text, "partial"', 'outcome: word in outcome.text, "whole"', {"partial"}),
    ("lambda word, outcome: word in", "lambda word, outcome: word not in", {"partial"}),
    ("look=lambda shop: shop.orders", "look=lambda shop: dict(shop.orders)", {"world"}),
]


@pytest.mark.parametrize(("old", "new", "changed"), CHANGES)
def test_a_change_of_a_file_makes_other_tasks_of_those_that_it_concerns(
    tmp_path: Path, old: str, new: str, changed: set[str]
) -> None:
    assert FILE.count(old) == 1
    path = tmp_path / "tasks.py"
    before = digests(path, FILE)
    assert before.keys() == EVERY
    after = digests(path, FILE.replace(old, new))
    assert {name for name in EVERY if after[name] != before[name]} == changed


def digests(path: Path, content: str) -> dict[str, str]:
    path.write_text(content, encoding="utf-8")
    return {case.id: case.digest for case in suite_from(path).cases}


def test_a_task_is_the_same_in_every_process(tmp_path: Path) -> None:
    path = tmp_path / "tasks.py"
    content = FILE.replace('{"17": "shipped"}', '{"17": "shipped", "names": {"a", "b", "c", "d"}}')
    content = content.replace('"b" in outcome.text', 'outcome.text in {"a", "b", "c", "d"}')
    here = digests(path, content)
    code = (
        "import pathlib, sys; from wieldy.evals.tasks.datasets import suite_from\n"
        "print({case.id: case.digest for case in suite_from(pathlib.Path(sys.argv[1])).cases})"
    )
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code, str(path)],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == str(here)


@tool(effect="read")
def look(place: str) -> str:
    """Look."""
    return place


@tool(effect="read")
def look_again(place: str) -> str:
    """Look."""
    return place + place


CALLS = (ExpectedCall(name="look", arguments={"place": "a"}),)
BASE: dict[str, Any] = {"id": "t", "prompt": "Look.", "tools": (look,), "calls": CALLS}
OTHERS: dict[str, Any] = {
    "prompt": "Look!",
    "tools": (look_again.renamed("look"),),
    "calls": (ExpectedCall(name="look", arguments={"place": True}),),
    "order": "as listed",
    "extra_calls": True,
    "milestones": (Condition(name="m", tool="look"),),
    "minefields": (Condition(name="m", tool="look"),),
    "answer": ("a",),
    "environment": World[dict[str, int]](start=dict, tools=lambda _: [], look=lambda state: {**state}),
    "check": lambda _: True,
    "judge": "Is it polite?",
    "refuse": False,
    "unknown": ("look.place",),
    "policy": "Look once.",
    "tool_errors": True,
    "instructions": "Look.",
    "kind": "looks",
    "cluster": "c",
    "axes": {"cue": "angry"},
    "scripts": {"x": CALLS},
}


def test_every_part_of_a_task_but_its_id_and_its_other_words_counts() -> None:
    assert OTHERS.keys() | {"id", "variants"} == {each.name for each in fields(Task)}
    base = Task(**BASE)
    changed = [replace(base, **{name: value}) for name, value in OTHERS.items()]
    assert len({case_of(each).digest for each in (base, *changed)}) == 1 + len(OTHERS)
    assert case_of(replace(base, variants=("See.",))).digest == case_of(Task(**BASE)).digest


PLAIN: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


def constantly(value: object) -> object:
    return lambda _: value


@given(PLAIN, PLAIN)
def test_functions_are_the_same_exactly_if_what_they_have_closed_over_is(one: object, other: object) -> None:
    is_same = identity_of(constantly(one)) == identity_of(constantly(other))
    assert is_same == (repr(in_order(one)) == repr(in_order(other)))
    assert identity_of(constantly(one)) == identity_of(constantly(one))


def in_order(value: Any) -> Any:
    if isinstance(value, list):
        return list(map(in_order, value))
    return {name: in_order(value[name]) for name in sorted(value)} if isinstance(value, dict) else value


def even(number: int) -> bool:
    return number == 0 or odd(number - 1)


def odd(number: int) -> bool:
    return number != 0 and even(number - 1)


def test_code_may_name_itself_and_whatever_it_holds_is_told() -> None:
    assert identity_of(even) != identity_of(odd)
    assert identity_of(re.compile("a")) != identity_of(re.compile("b"))
    assert identity_of({even, odd}) == identity_of({odd, even})
    assert identity_of(len, object(), constantly, pytest.raises) == identity_of(
        len, object(), constantly, pytest.raises
    )
    around: list[object] = []
    around.append(around)
    with pytest.raises(UsageError, match="do not hold themselves"):
        identity_of(around)
