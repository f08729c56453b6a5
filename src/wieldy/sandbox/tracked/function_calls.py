"""A call of a function of ours, and what its arguments are."""

from __future__ import annotations

from wieldy.sandbox.tracked.limits import Meter
from wieldy.sandbox.tracked.objects import CLEAN, Label, Value, raised, shallow
from wieldy.sandbox.tracked.operators import deep


class FunctionCall:
    """A call of a function of ours.

    Attributes:
        label: Who had a part in the arguments, and in how long they are.
    """

    __slots__ = ("arguments", "control", "keywords", "label", "meter", "name")

    def __init__(
        self, name: str, arguments: list[Value], keywords: dict[str, Value], control: Label, meter: Meter
    ) -> None:
        self.name = name
        self.arguments = arguments
        self.keywords = keywords
        self.control = control
        self.meter = meter
        self.label = CLEAN
        for argument in (*arguments, *keywords.values()):
            self.label |= shallow(argument)

    def takes(self, least: int, most: int, *names: str) -> None:
        """Raises where there are fewer or more arguments than that, or others than those by name."""
        if not least <= len(self.arguments) <= most or not set(self.keywords) <= set(names):
            between = f"{least}" if least == most else f"{least} to {most}"
            raise raised("TypeError", f"{self.name}() takes {between} arguments, and by name {names or 'none'}")

    def deep(self) -> Label:
        """Who had a part in anything within the arguments."""
        label = self.label
        for argument in (*self.arguments, *self.keywords.values()):
            label |= deep(argument, self.meter)
        return label
