"""Tasks whose calls are changed, for scripts to follow: what they then do is right by chance only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

Actions = list[Any]


class ChangedTasks:
    """Makes changed copies of the tasks of one domain.

    Attributes:
        kinds: The changes by name.
    """

    def __init__(self, tasks: Sequence[Any], seed: int) -> None:
        self._others = [action for task in tasks for action in _actions(task)]
        self._chance = Random(seed)
        self.kinds: Mapping[str, Callable[[Actions], None]] = {
            "dropped": lambda actions: self._at(actions, actions.pop),
            "doubled": lambda actions: self._at(actions, lambda at: actions.insert(at, actions[at].model_copy())),
            "swapped": self._swap,
            "an argument changed": self._change,
            "an argument dropped": self._drop_argument,
            "of another task": lambda actions: actions.insert(self._place(actions), self._other()),
            "by the other side": self._by_the_other,
            "not a tool": lambda actions: actions.insert(
                self._place(actions), self._other().model_copy(update={"name": "undo"})
            ),
        }

    def changed(self, task: Any, kind: str) -> Any:
        """A copy of the task in which one thing, or with luck two, is otherwise."""
        copy = task.model_copy(deep=True)
        if copy.evaluation_criteria is None:
            return copy
        actions = _actions(copy)
        for each in [kind, *([self._chance.choice(list(self.kinds))] if self._chance.random() < 0.3 else [])]:
            self.kinds[each](actions)
        copy.evaluation_criteria.actions = actions
        told = copy.evaluation_criteria.communicate_info
        if told and self._chance.random() < 0.3:
            told[self._chance.randrange(len(told))] = self._chance.choice(["", "1,234", told[0].upper()])
        return copy

    def _place(self, actions: Actions) -> int:
        return self._chance.randint(0, len(actions))

    def _other(self) -> Any:
        return self._chance.choice(self._others).model_copy(deep=True)

    def _at(self, actions: Actions, change: Callable[[int], object]) -> None:
        if actions:
            change(self._chance.randrange(len(actions)))

    def _swap(self, actions: Actions) -> None:
        if len(actions) > 1:
            one, other = self._chance.sample(range(len(actions)), 2)
            actions[one], actions[other] = actions[other], actions[one]

    def _change(self, actions: Actions) -> None:
        def change(at: int) -> None:
            arguments = actions[at].arguments
            for name in self._chance.sample(sorted(arguments), min(1, len(arguments))):
                arguments[name] = self._value(actions[at].name, name, arguments[name])

        self._at(actions, change)

    def _value(self, tool: str, name: str, value: Any) -> Any:
        """A value that another call of the tool has, or one that is close."""
        known = [each.arguments[name] for each in self._others if each.name == tool and name in each.arguments]
        match value:
            case bool():
                near: Any = not value
            case int() | float():
                near = value + 1
            case list():
                near = value[1:]
            case _:
                near = f"{value}0"
        return self._chance.choice([near, *known])

    def _drop_argument(self, actions: Actions) -> None:
        def drop(at: int) -> None:
            arguments = actions[at].arguments
            if arguments:
                del arguments[self._chance.choice(sorted(arguments))]

        self._at(actions, drop)

    def _by_the_other(self, actions: Actions) -> None:
        def turn(at: int) -> None:
            actions[at].requestor = "user" if actions[at].requestor == "assistant" else "assistant"

        self._at(actions, turn)


def _actions(task: Any) -> Actions:
    criteria = task.evaluation_criteria
    return [] if criteria is None else [each.model_copy(deep=True) for each in criteria.actions or ()]
