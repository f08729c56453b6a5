"""Code at work, and what codes that run one after the other share: their names, and the account of who had a part."""

from __future__ import annotations

import ast
from collections.abc import Generator, Mapping
from functools import cache
from typing import Any, Final

from wieldy.sandbox.tracked import assignments, expressions, statements
from wieldy.sandbox.tracked.analysis import Analysis, local_names
from wieldy.sandbox.tracked.bodies import FunctionCode
from wieldy.sandbox.tracked.comparisons import unawaited
from wieldy.sandbox.tracked.containers import with_label
from wieldy.sandbox.tracked.control import Control, Frame, Task
from wieldy.sandbox.tracked.functions import FUNCTIONS
from wieldy.sandbox.tracked.iteration import Steps
from wieldy.sandbox.tracked.kinds import PARENTS
from wieldy.sandbox.tracked.limits import LimitReachedError, Meter, TrackedLimits
from wieldy.sandbox.tracked.marking import size_within
from wieldy.sandbox.tracked.objects import (
    CLEAN,
    Builtin,
    CoroutineObject,
    ExceptionType,
    FunctionObject,
    Label,
    Module,
    Raised,
    Tool,
    Value,
    raised,
    shallow,
)
from wieldy.sandbox.tracked.prelude import PRELUDE
from wieldy.sandbox.tracked.scopes import Env
from wieldy.sandbox.tracked.special_functions import SPECIAL
from wieldy.sandbox.tracked.ways import Ways

_MODULES: Final = ("asyncio", "json")
"""What is there without being imported."""


class Machine:
    """The code, its names, its tools, and the account of what it did.

    Attributes:
        is_async: The code awaits: then a tool's call is one that is to be awaited.
        prelude: Our functions that are written in code themselves.
        tools: The tools by name.
    """

    def __init__(self, tree: ast.Module, tools: Mapping[str, Tool], limits: TrackedLimits) -> None:
        self.tools = tools
        self.meter = Meter(limits)
        self.control = Control(self.meter)
        self.env = Env(None, frozenset())
        self.prelude = _prelude()
        self._ours = {name: Value(Builtin(name)) for name in (*FUNCTIONS, *SPECIAL)} | self.prelude
        self._ours |= {name: Value(ExceptionType(name)) for name in PARENTS}
        there = {name: Value(Module(name)) for name in _MODULES}
        self._builtins = self._ours | there | {name: Value(tool) for name, tool in tools.items()}
        self._codes: dict[ast.AST, FunctionCode] = {}
        self.take(tree, limits)

    def take(self, tree: ast.Module, limits: TrackedLimits) -> None:
        """The code is the one that runs next, with limits of its own; it finds what earlier code has left."""
        self.tree = tree
        self.meter = Meter(limits)
        self.meter.allocated = size_within(self.env)
        self.control.begin(self.meter)
        self.is_async = any(isinstance(node, ast.Await) or _is_asyncio(node) for node in ast.walk(tree))
        self.analysis = Analysis(tree)
        names, _ = local_names(tree)
        self.env.names |= names | self.analysis.effects(tree).declared
        self._written: list[str] = []
        self._size = 0

    @property
    def stdout(self) -> str:
        """What was printed up to now; half characters are replaced."""
        return "".join(self._written).encode("utf-8", "replace").decode()

    def write(self, text: str, label: Label) -> None:
        """Prints the text."""
        self._size += len(text)
        if self._size > self.meter.limits.stdout:
            raise LimitReachedError(f"more than {self.meter.limits.stdout} printed characters")
        self._written.append(text)
        self.control.printed |= label

    def load(self, frame: Frame, name: str) -> Value:
        """What the name stands for.

        Raises:
            Raised: It stands for nothing.
        """
        env = frame.env
        found = env.values.get(name)
        if found is not None and not env.perhaps:
            return found
        owner = env.owner(name)
        if owner is None:
            return self._builtin(frame, name, CLEAN)
        value = owner.values.get(name)
        label = owner.perhaps.get(name, CLEAN) if owner.perhaps else CLEAN
        if label:
            self.control.may_fail(frame, label)
        if value is not None:
            return with_label(value, label) if label else value
        if owner.parent is None:
            return self._builtin(frame, name, label)
        raise raised("UnboundLocalError", f"{name!r} has no value yet", label)

    def _builtin(self, frame: Frame, name: str, label: Label) -> Value:
        value = (self._ours if frame.is_ours else self._builtins).get(name)
        if value is None:
            raise raised("NameError", f"there is no {name!r} here", label)
        return with_label(value, label)

    def assign(self, target: ast.expr, value: Value, frame: Frame) -> Generator[Any, Any, None]:
        """Gives the target the value."""
        return assignments.assign(self, target, value, frame)

    def evaluate(self, node: ast.AST, frame: Frame) -> Steps:
        """What the expression gives."""
        return expressions.evaluate(self, node, frame)

    def execute(self, nodes: list[ast.stmt], frame: Frame) -> Ways:
        """Runs the statements one after the other."""
        return statements.execute(self, nodes, frame)

    def code_of(self, node: ast.AST, frame: Frame) -> FunctionCode:
        """The code of a definition or comprehension that stands in the frame."""
        found = self._codes.get(node)
        if found is None:
            found = self._codes[node] = FunctionCode.of(node, frame.analysis, is_ours=frame.is_ours)
        return found

    def line_of(self, frame: Frame) -> int:
        """The line of the code that is at work; not one of ours."""
        lines = [part.line for part in (*frame.task.frames, frame) if not part.is_ours and part.line]
        return lines[-1] if lines else 0

    def run_body(self, code: FunctionCode, env: Env, task: Task, pc: Label) -> Steps:
        """Runs the code of a function in its scope."""
        if len(task.frames) >= self.meter.limits.depth:
            raise LimitReachedError(f"more than {self.meter.limits.depth} functions within functions")
        frame = Frame(code.node, env, task, code.analysis, pc)
        frame.is_ours = code.is_ours
        task.frames.append(frame)
        try:
            if isinstance(code.node, ast.Lambda):
                return with_label((yield from expressions.evaluate(self, code.node.body, frame)), frame.control)
            way = yield from statements.execute(self, code.node.body, frame)
            # A `finally` may have left the function in another way after this one was taken.
            return with_label(way if isinstance(way, Value) else Value(None), frame.control)
        finally:
            task.frames.remove(frame)

    def run_module(self, task: Task) -> Steps:
        """Runs all of the code: its value is that of the last expression, else of the last name that was given one."""
        frame = Frame(self.tree, self.env, task, self.analysis, CLEAN)
        task.frames.append(frame)
        body = list(self.tree.body)
        last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
        yield from statements.execute(self, body, frame)
        if isinstance(last, ast.Expr):
            frame.line = last.lineno
            try:
                value = yield from expressions.evaluate(self, last.value, frame)
            except Raised as error:
                error.line = error.line or frame.line
                raise
        else:
            name = _last_name(self.tree)
            value = self.env.values.get(name, Value(None)) if name else Value(None)
            value = with_label(value, self.env.perhaps.get(name or "", CLEAN))
        if isinstance(value.data, CoroutineObject):
            message = f"{unawaited(value.data)} was not awaited: write `await` before it"
            raise raised("TypeError", message, shallow(value))
        return with_label(value, frame.control)


def _is_asyncio(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return node.module == "asyncio"
    if isinstance(node, ast.Name):
        return node.id == "asyncio"
    return isinstance(node, ast.Import) and any(alias.name == "asyncio" for alias in node.names)


def _last_name(tree: ast.Module) -> str | None:
    """The name that the code, as it is written, assigns to last at its top level."""
    for statement in reversed(tree.body):
        found = [
            (part.lineno, part.col_offset, part.id)
            for part in ast.walk(statement)
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
        ]
        if found and not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            return max(found)[2]
    return None


@cache
def _prelude_codes() -> tuple[FunctionCode, ...]:
    tree = ast.parse(PRELUDE)
    analysis = Analysis(tree)
    return tuple(FunctionCode.of(node, analysis, is_ours=True) for node in tree.body)


def _prelude() -> dict[str, Value]:
    env = Env(None, frozenset())
    made: dict[str, Value] = {}
    for code in _prelude_codes():
        spec: ast.arguments = code.node.args
        defaults = {
            part.arg: Value(default.value)
            for part, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
            if isinstance(default, ast.Constant)
        }
        made[code.node.name] = Value(FunctionObject(code, env, defaults))
    return made


def _builtin_names() -> frozenset[str]:
    prelude = (code.node.name for code in _prelude_codes())
    return frozenset({*FUNCTIONS, *SPECIAL, *PARENTS, *prelude, *_MODULES})


BUILTIN_NAMES: Final = _builtin_names()
"""What stands for something in every code without being given a value."""
