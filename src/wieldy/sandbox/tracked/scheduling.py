"""Runs the tasks of one run of code, one at a time and always in the same order, until none can go on by itself."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Sequence
from typing import Any, cast

from wieldy.sandbox.tracked.control import Frame, Task
from wieldy.sandbox.tracked.limits import LimitReachedError
from wieldy.sandbox.tracked.machine import Machine
from wieldy.sandbox.tracked.objects import CLEAN, CoroutineObject, Raised, Value, raised, type_name
from wieldy.sandbox.tracked.waiting import Together, ToolRequest, wait_for

_MOST_TASKS = 1_000


class Scheduler:
    """The tasks of a machine: the module's, and those of coroutines that go on at once."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._root = Task(None, CLEAN)
        self._root.stack.append(machine.run_module(self._root))
        self._tasks = machine.control.tasks
        self._tasks.append(self._root)
        self._ready: deque[tuple[Task, Any, Raised | None]] = deque([(self._root, None, None)])
        self._pending: list[tuple[Task, ToolRequest]] = []

    @property
    def requests(self) -> tuple[ToolRequest, ...]:
        """The calls that the code waits for."""
        return tuple(request for _, request in self._pending)

    def answer(self, answers: Sequence[Value]) -> None:
        """Gives every call its answer, in their order."""
        self._ready += [(task, value, None) for (task, _), value in zip(self._pending, answers, strict=True)]
        self._pending.clear()

    def go(self) -> Value | None:
        """Runs what can run; gives the value of the code once it is at its end.

        Raises:
            Raised: The code ended with an exception.
            LimitReachedError: It reached a limit.
        """
        while self._ready:
            task, answer, error = self._ready.popleft()
            self._run(task, answer, error)
        outcome = self._root.outcome
        if isinstance(outcome, Raised):
            raise outcome
        return outcome

    def _run(self, task: Task, answer: Any, error: Raised | None) -> None:
        while task.stack:
            steps = task.stack[-1]
            try:
                request = steps.send(answer) if error is None else steps.throw(error)
            except StopIteration as end:
                task.stack.pop()
                answer, error = end.value, None
                continue
            except Raised as failure:
                task.stack.pop()
                answer, error = None, failure
                continue
            answer, error = None, None
            if isinstance(request, Generator):
                task.stack.append(cast("Generator[Any, Any, Any]", request))
            elif isinstance(request, ToolRequest):
                self._pending.append((task, request))
                return
            else:
                error = self._start(task, request)
                if error is None and task.children:
                    return
                answer = []
        self._end(task, error or answer)

    def _start(self, task: Task, together: Together) -> Raised | None:
        for value in together.coroutines:
            if not isinstance(value.data, CoroutineObject):
                return raised("TypeError", f"gather() takes calls, no {type_name(value.data)}", value.label)
        self._machine.meter.charge(10 * len(together.coroutines))
        if len(self._tasks) + len(together.coroutines) > _MOST_TASKS:
            raise LimitReachedError(f"more than {_MOST_TASKS} coroutines at once")
        outer = together.frame
        for value in together.coroutines:
            child = Task(task, outer.control)
            child.coroutine = value
            frame = Frame(outer.node, outer.env, child, outer.analysis, outer.control)
            frame.line = outer.line
            child.stack.append(wait_for(self._machine, frame, value))
            task.children.append(child)
            self._tasks.append(child)
            self._ready.append((child, None, None))
        return None

    def _end(self, task: Task, outcome: Any) -> None:
        task.outcome = outcome
        if task.parent is None:
            return
        self._tasks.remove(task)
        siblings = task.parent.children
        if isinstance(outcome, Raised):
            task.parent.children = []
            self._cancel([sibling for sibling in siblings if sibling.outcome is None])
            self._ready.append((task.parent, None, outcome))
        elif all(sibling.outcome is not None for sibling in siblings):
            task.parent.children = []
            self._ready.append((task.parent, [sibling.outcome for sibling in siblings], None))

    def _cancel(self, tasks: list[Task]) -> None:
        """Ends tasks, and all that they wait for, where they are."""
        for task in tasks:
            self._cancel([child for child in task.children if child.outcome is None])
            self._tasks.remove(task)
            while task.stack:
                task.stack.pop().close()
        self._ready = deque(entry for entry in self._ready if entry[0] not in tasks)
        self._pending = [entry for entry in self._pending if entry[0] not in tasks]
