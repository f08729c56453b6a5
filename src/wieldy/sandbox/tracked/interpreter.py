"""Code that is run while it is known of every value where it comes from; step by step, with calls answered between.

The code is run by an interpreter of our own, for a part of Python, in this process. Nothing here waits, reads a clock
or leaves anything to chance: the same code with the same answers takes the same steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from wieldy.sandbox.tracked.exchange import check_json, enter, leave
from wieldy.sandbox.tracked.limits import LimitReachedError, TrackedLimits
from wieldy.sandbox.tracked.machine import Machine
from wieldy.sandbox.tracked.objects import ExceptionObject, Label, Raised, Tool, Value, type_name
from wieldy.sandbox.tracked.operators import deep
from wieldy.sandbox.tracked.scheduling import Scheduler
from wieldy.sandbox.tracked.steps import (
    NOBODY,
    Answer,
    Calls,
    Done,
    Failed,
    Labelled,
    Reply,
    Sources,
    Step,
    TrackedCall,
)
from wieldy.sandbox.tracked.subset import read_code
from wieldy.sandbox.tracked.text import text_of
from wieldy.sandbox.tracked.waiting import ToolRequest

_DEFAULTS = TrackedLimits()


class Tracked:
    """One run of code: `start` it, and `answer` the calls of every step until it is done or has failed.

    Raises:
        UnsupportedCodeError: Something in the code cannot be tracked; nothing of it has run.
        TypeError: A variable is no JSON.
    """

    def __init__(
        self,
        code: str,
        *,
        tools: Mapping[str, Sequence[str]],
        variables: Mapping[str, Labelled] | None = None,
        limits: TrackedLimits = _DEFAULTS,
        after: Tracked | None = None,
    ) -> None:
        """Reads the code.

        Args:
            code: Python, as far as it can be tracked.
            tools: The names of the functions that are tools, each with the parameters that may be given by position.
            variables: What names stand for at the start.
            limits: How much the code may do.
            after: Code that has ended with `Done` or `Failed` for another reason than a limit: this one finds the names
                that it has left, and the same tools. That one cannot be used any more.
        """
        tree = read_code(code, nesting=limits.nesting, size=limits.code)
        self._limits = limits
        if after is None:
            known = {name: Tool(name, tuple(parameters)) for name, parameters in tools.items()}
            self._machine = Machine(tree, known, limits)
            self._names: list[str] = []
        else:
            after._give_up()
            self._machine, self._names = after._machine, after._names
            self._machine.take(tree, limits)
        self._count = 0
        given = variables or {}
        for item in given.values():
            check_json(item.value, limits.nesting)
        self._machine.env.names |= given.keys()
        self._variables = {name: (item.value, self._label(item.sources)) for name, item in given.items()}
        self._scheduler = Scheduler(self._machine)
        self._state = "new"

    @property
    def steps(self) -> int:
        """How many steps the code has taken, in the unit of its limit."""
        return self._machine.meter.steps

    def _give_up(self) -> None:
        if self._state != "ended":
            raise RuntimeError("expected code that has ended, and not by a limit, and that no other has followed")
        self._state = "over"

    def start(self) -> Step:
        """Runs the code up to its first calls, or to its end."""
        if self._state != "new":
            raise RuntimeError("expected a run that has not started; make a new one")
        return self._go(self._enter_variables)

    def answer(self, answers: Sequence[Answer]) -> Step:
        """Runs the code on with the answers to the calls of the last step, in their order.

        Raises:
            ValueError: There are not as many answers as calls.
            TypeError: A reply is no JSON.
        """
        requests = self._scheduler.requests
        if self._state != "waiting":
            raise RuntimeError("expected a run that waits for calls")
        if len(answers) != len(requests):
            raise ValueError(f"expected {len(requests)} answers, one for each call, found {len(answers)}")
        for answer in answers:
            if isinstance(answer, Reply):
                check_json(answer.value, self._limits.nesting)
        pairs = list(zip(requests, answers, strict=True))
        return self._go(lambda: self._scheduler.answer([self._answered(*pair) for pair in pairs]))

    def _enter_variables(self) -> None:
        for name, (value, label) in self._variables.items():
            self._machine.env.values[name] = enter(value, label, self._machine.meter)

    def _answered(self, request: ToolRequest, answer: Answer) -> Value:
        label = self._label(answer.sources) | request.involved | request.decided_by
        if isinstance(answer, Reply):
            return enter(answer.value, label, self._machine.meter)
        message = Value(self._machine.meter.text(answer.message), label)
        return Value(ExceptionObject("ToolError", (message,), Value(answer.kind, label)), label)

    def _go(self, prepare: Callable[[], None]) -> Step:
        self._state = "over"
        try:
            prepare()
            value = self._scheduler.go()
            if value is None:
                step: Step = self._calls()
                self._state = "waiting"
            else:
                step = self._done(value)
                self._state = "ended"
        except Raised as error:
            step = self._failed(error)
            self._state = "ended"
        except LimitReachedError as error:
            step = self._ended("Limit", str(error), 0, self._machine.control.survived)
        except (RecursionError, MemoryError):
            step = self._ended("Limit", "the code or its data is nested too deeply", 0, self._machine.control.survived)
        return step

    def _calls(self) -> Calls:
        requests = self._scheduler.requests
        first = self._count
        self._count += len(requests)
        if self._count > self._limits.calls:
            raise LimitReachedError(f"more than {self._limits.calls} calls")
        survived = self._sources(self._machine.control.survived)
        return Calls(
            calls=tuple(
                TrackedCall(
                    seq=first + place,
                    name=request.name,
                    arguments=request.arguments,
                    sources={name: self._sources(label) for name, label in request.labels.items()},
                    parts={path: self._sources(label) for path, label in request.parts.items()},
                    decided_by=self._sources(request.decided_by),
                    survived=survived,
                    line=request.line,
                )
                for place, request in enumerate(requests)
            )
        )

    def _done(self, value: Value) -> Done:
        meter = self._machine.meter
        label = deep(value, meter)
        try:
            data, part = leave(value, meter)
        except Raised:
            data, part = self._described(value), label
        return Done(
            value=data,
            sources=self._sources(label | part),
            stdout=self._machine.stdout,
            stdout_sources=self._sources(self._machine.control.printed),
        )

    def _described(self, value: Value) -> str:
        try:
            text = text_of(value.data, self._machine.meter)
        except Raised:
            text = f"<{type_name(value.data)}>"
        return text.encode("utf-8", "replace").decode()

    def _failed(self, error: Raised) -> Failed:
        meter = self._machine.meter
        kind = type_name(error.value.data)
        label = deep(error.value, meter) | self._machine.control.survived
        return self._ended(kind, self._described(error.value), error.line, label)

    def _ended(self, error: str, message: str, line: int, label: Label) -> Failed:
        return Failed(
            error=error,
            message=message,
            line=line,
            sources=self._sources(label),
            stdout=self._machine.stdout,
            stdout_sources=self._sources(self._machine.control.printed),
        )

    def _label(self, sources: Iterable[str]) -> Label:
        label = 0
        for source in sorted(sources):
            if source not in self._names:
                self._names.append(source)
            label |= 1 << self._names.index(source)
        return label

    def _sources(self, label: Label) -> Sources:
        if not label:
            return NOBODY
        return frozenset(name for place, name in enumerate(self._names) if label >> place & 1)
