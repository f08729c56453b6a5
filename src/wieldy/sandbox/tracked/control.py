"""Who decides which way the code goes, and what all depends on that.

Every frame has a *control*: whose data had a part in that this place is reached. It is joined into all that is
assigned, changed and called there. Where data first has a say in the way (`diverge`), everything that any of the ways
could change until they meet is labelled at once, since in a run with other data that is what would have changed. The
same holds where an operation on data could have failed (`may_fail`): then the ways meet where the `try` statement
around it ends.
"""

from __future__ import annotations

import ast
from collections.abc import Generator, Iterable
from typing import Any

from wieldy.sandbox.tracked.analysis import Analysis, Effects, encloses
from wieldy.sandbox.tracked.limits import Meter
from wieldy.sandbox.tracked.marking import Reached, mark_all, mark_effects
from wieldy.sandbox.tracked.objects import CLEAN, FunctionObject, Label, ListObject, TupleObject, Value
from wieldy.sandbox.tracked.scopes import Env


class Frame:
    """One function, comprehension or module at work.

    Attributes:
        node: What it runs.
        pc: The control by branches around this place, and before it where they leave a loop or the function.
        failing: The control by operations before this place that could have failed, within `try` statements.
    """

    __slots__ = ("analysis", "env", "failing", "handling", "held", "is_ours", "line", "node", "pc", "task", "through")

    def __init__(self, node: ast.AST, env: Env, task: Task, analysis: Analysis, pc: Label) -> None:
        self.node = node
        self.env = env
        self.task = task
        self.analysis = analysis
        self.pc = pc
        self.failing = CLEAN
        self.handling: list[Value] = []
        """The exceptions whose handlers are at work, and those that wait for the end of a `finally`."""
        self.held: list[Value] = []
        """What parts of the statement at work have brought, and others are yet to use."""
        self.through: list[tuple[ast.AST, Value]] = []
        """The loops and comprehensions that are at work, and the iterators that they go through."""
        self.line = 0
        self.is_ours = False
        """Whether it runs our prelude, whose lines nobody knows."""

    @property
    def control(self) -> Label:
        """Whose data had a part in that this place is reached."""
        return self.pc | self.failing | self.task.pc


class TryRegion:
    """A `try` statement whose body is at work.

    Attributes:
        label: Whose data could have made it fail up to now.
        escaped: The part of that which could have led to a failure of the statement itself.
        is_final: Nothing can get out of it by failing.
    """

    __slots__ = ("escaped", "frame", "is_final", "label", "node")

    def __init__(self, node: ast.Try, frame: Frame, *, is_final: bool) -> None:
        self.node = node
        self.frame = frame
        self.is_final = is_final
        self.label = CLEAN
        self.escaped = CLEAN


class Task:
    """One line of control: the module, or one of several coroutines that go on at once.

    Attributes:
        stack: Host generators, each waiting for the next; a call of a function adds one.
        pc: The control by what others who go on at the same time wait for.
    """

    __slots__ = ("children", "coroutine", "frames", "outcome", "parent", "pc", "stack", "tries", "waits_for")

    def __init__(self, parent: Task | None, pc: Label) -> None:
        self.parent = parent
        self.pc = pc
        self.coroutine = Value(None)
        """What it runs."""
        self.stack: list[Generator[Any, Any, Any]] = []
        self.frames: list[Frame] = []
        self.tries: list[TryRegion] = []
        self.outcome: Any = None
        self.children: list[Task] = []
        self.waits_for: Any = None

    def is_above(self, other: Task) -> bool:
        """Whether the other one was started by this one, or by one that was."""
        above = other.parent
        while above is not None:
            if above is self:
                return True
            above = above.parent
        return False


class Control:
    """The labels that are about the ways of code."""

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self.tasks: list[Task] = []
        self.survived = CLEAN
        self.printed = CLEAN
        self.functions: dict[tuple[int, int], FunctionObject] = {}
        """All functions that the code defined: one for each definition and scope."""
        self.has_methods = False
        """Whether the code took a method that changes something, without calling it."""

    def begin(self, meter: Meter) -> None:
        """Other code begins, with what is known of who had a part in what it finds."""
        self.meter = meter
        self.tasks.clear()
        self.printed = CLEAN

    def diverge(self, frame: Frame, node: ast.AST, label: Label) -> None:
        """Data of that label has a say in what the node does next."""
        label &= ~frame.control
        if not label:
            return
        join = frame.analysis.join(node)
        effects = frame.analysis.effects(join)
        frame.pc |= label
        self.survived |= label
        if self._mark([(effects, frame.env)], label, _held(frame, join)).waits:
            self._reschedule(frame.task, label)
        if effects.can_fail:
            self._fail(frame.task, label)

    def may_fail(self, frame: Frame, label: Label) -> None:
        """An operation on data of that label is about to be done, which could fail."""
        label &= ~frame.control
        if label:
            self._fail(frame.task, label)

    def any_container(self, frame: Frame, label: Label) -> None:
        """Data of that label decides which container is changed, or gone through: it could be any."""
        label &= ~frame.control
        if label:
            self.survived |= label
            mark_all(self._scopes(), label, self.meter, roots=self._coroutines())

    def any_function(self, frame: Frame, label: Label, arguments: Iterable[Value]) -> None:
        """Data of that label decides which function is called: it could be any that there is."""
        label &= ~frame.control
        if not label:
            return
        self.survived |= label
        self.printed |= label
        functions = [Value(function) for function in self.functions.values()]
        if self.has_methods or any(function.data.code.effects.is_entangled for function in functions):
            mark_all(self._scopes(), label, self.meter, roots=self._coroutines())
        self._mark([], label, roots=[*functions, *arguments])
        self._reschedule(frame.task, label)

    def resume(self, frame: Frame, label: Label, code: Value) -> None:
        """Data of that label decides whether code that stands still will go on from here."""
        label &= ~frame.control
        if label:
            self.survived |= label
            if self._mark([], label, roots=[code]).waits:
                self._reschedule(frame.task, label)

    def _scopes(self) -> list[Env]:
        return [frame.env for task in self.tasks for frame in task.frames]

    def _coroutines(self) -> list[Value]:
        return [task.coroutine for task in self.tasks]

    def _mark(self, parts: list[tuple[Effects, Env]], label: Label, roots: Iterable[Value] = ()) -> Reached:
        reached = mark_effects(parts, label, self.meter, roots=roots)
        if reached.prints:
            self.printed |= label
        return reached

    def _fail(self, task: Task, label: Label) -> None:
        """Everything after this place, up to the end of the `try` statement that would catch it, depends on it."""
        regions = _regions(task)
        if not regions or not regions[-1].is_final:
            self.survived |= label
        if not regions:
            return
        for region in regions:
            region.label |= label
        for region in regions[:-1]:
            region.escaped |= label
        outermost = regions[-1]
        outermost.frame.failing |= label
        join = outermost.frame.analysis.join(outermost.node)
        parts = [(outermost.frame.analysis.effects(join), outermost.frame.env)]
        roots = _held(outermost.frame, join)
        for frame in _frames_within(task, outermost.frame):
            frame.failing |= label
            parts.append((frame.analysis.effects(frame.node), frame.env))
            roots += _held(frame, frame.node)
        # A failure that leaves its task ends those that go on beside it.
        ended = [other for other in self.tasks if outermost.frame.task.is_above(other)]
        parts += _whole(ended, label)
        if self._mark(parts, label, [*roots, *_roots_of(ended)]).waits:
            self._reschedule(task, label)

    def _reschedule(self, task: Task, label: Label) -> None:
        """When the task waits depends on the label; so does all that it and others do from now on."""
        others = [other for other in self.tasks if other is not task and not other.is_above(task)]
        if others:
            parts = _whole([task, *others], label)
            self._mark(parts, label, _roots_of([task, *others]))


def _whole(tasks: list[Task], label: Label) -> list[tuple[Effects, Env]]:
    """All that the tasks are at, whose control the label becomes a part of."""
    for task in tasks:
        task.pc |= label
    return [(frame.analysis.effects(frame.node), frame.env) for task in tasks for frame in task.frames]


def _roots_of(tasks: list[Task]) -> list[Value]:
    """What the tasks run, and what they hold without a name."""
    held = [value for task in tasks for frame in task.frames for value in _held(frame, frame.node)]
    return [*(task.coroutine for task in tasks), *held]


def _held(frame: Frame, node: ast.AST) -> list[Value]:
    """What the frame holds without a name while it is in the node, and what loops there are yet to bring.

    The iterator of a loop is itself advanced by the loop only, if it is not reached by a name as well.
    """
    found = [*frame.handling, *frame.held]
    for loop, iterator in frame.through:
        if encloses(node, loop):
            source = iterator.data.source
            is_list = isinstance(source.data, ListObject | TupleObject)
            found += source.data.items[iterator.data.index :] if is_list else [source]
    return found


def _regions(task: Task) -> list[TryRegion]:
    """The `try` statements that a failure could reach, from the inside out."""
    found: list[TryRegion] = []
    at: Task | None = task
    while at is not None:
        for region in reversed(at.tries):
            found.append(region)
            if region.is_final:
                return found
        at = at.parent
    return found


def _frames_within(task: Task, outermost: Frame) -> list[Frame]:
    """The frames that a failure would end on its way to that one."""
    found: list[Frame] = []
    at: Task | None = task
    while at is not None:
        for frame in reversed(at.frames):
            if frame is outermost:
                return found
            found.append(frame)
        at = at.parent
    return found
