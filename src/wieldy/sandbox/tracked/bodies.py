"""The code of functions, and the arguments that one is called with."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wieldy.sandbox.tracked.analysis import Analysis, Effects, local_names
from wieldy.sandbox.tracked.containers import with_label
from wieldy.sandbox.tracked.control import Frame
from wieldy.sandbox.tracked.iteration import Steps
from wieldy.sandbox.tracked.objects import CLEAN, DictObject, FunctionObject, Label, TupleObject, Value, raised
from wieldy.sandbox.tracked.scopes import Env

if TYPE_CHECKING:
    from wieldy.sandbox.tracked.machine import Machine


@dataclass(frozen=True, slots=True)
class FunctionCode:
    """The code of a function: what is in it, and which names are its own."""

    node: Any
    analysis: Analysis
    effects: Effects
    names: frozenset[str]
    module_names: frozenset[str]
    is_ours: bool

    @staticmethod
    def of(node: ast.AST, analysis: Analysis, *, is_ours: bool) -> FunctionCode:
        """The code of the definition."""
        names, module_names = local_names(node)
        return FunctionCode(node, analysis, analysis.effects(node), names, module_names, is_ours)


def _bound(machine: Machine, function: FunctionObject, given: Given) -> dict[str, Value]:
    spec: ast.arguments = function.code.node.args
    name = getattr(function.code.node, "name", "lambda")
    positional = [part.arg for part in (*spec.posonlyargs, *spec.args)]
    bound: dict[str, Value] = dict(zip(positional, given.arguments, strict=False))
    rest = given.arguments[len(positional) :]
    if spec.vararg:
        machine.meter.make(len(rest) + 1)
        bound[spec.vararg.arg] = Value(TupleObject(tuple(rest)), given.spread)
    elif rest:
        raise raised("TypeError", f"{name}() takes {len(positional)} arguments, {len(given.arguments)} were given")
    named = {part.arg for part in (*spec.args, *spec.kwonlyargs)}
    others: dict[Any, tuple[object, Value]] = {}
    for key, value in given.keywords.items():
        if key in named and key not in bound:
            bound[key] = value
        elif spec.kwarg and key not in named:
            others[key] = (key, value)
        else:
            raise raised("TypeError", f"{name}() takes no argument {key!r}, or has it twice")
    if spec.kwarg:
        bound[spec.kwarg.arg] = Value(DictObject(others, given.spread))
    for part in (*positional, *(part.arg for part in spec.kwonlyargs)):
        if part not in bound:
            if part not in function.defaults:
                raise raised("TypeError", f"{name}() needs the argument {part!r}")
            # Whether the default counts is decided by how many arguments there are.
            bound[part] = with_label(function.defaults[part], given.spread)
    return bound


@dataclass(slots=True)
class Given:
    """The arguments of a call; `spread` is who had a part in how many there are."""

    arguments: list[Value]
    keywords: dict[str, Value]
    spread: Label = CLEAN


def run_function(machine: Machine, frame: Frame, function: FunctionObject, given: Given) -> Steps:
    """Runs a function of the code to its end."""
    code: FunctionCode = function.code
    env = Env(function.env, code.names, code.module_names)
    env.values = _bound(machine, function, given)
    return (yield from machine.run_body(code, env, frame.task, frame.control))
