"""A call of a method: what it is called on, with what, and on whose behalf."""

from __future__ import annotations

from typing import Any

from wieldy.sandbox.tracked.limits import Meter
from wieldy.sandbox.tracked.objects import Label, Value, raised, shallow


class MethodCall:
    """A call of a method: what it is called on, with what, and on whose behalf.

    Attributes:
        data: The data of the receiver.
        who: The control, and who had a part in which object the receiver is.
        label: Who had a part in the receiver's extent and in the arguments.
    """

    __slots__ = ("arguments", "data", "keywords", "label", "meter", "name", "receiver", "who")

    def __init__(
        self, receiver: Value, name: str, arguments: list[Value], keywords: dict[str, Value], who: Label, meter: Meter
    ) -> None:
        self.receiver = receiver
        self.data: Any = receiver.data
        self.name = name
        self.arguments = arguments
        self.keywords = keywords
        self.meter = meter
        self.who = who | receiver.label
        self.label = shallow(receiver)
        for argument in (*arguments, *keywords.values()):
            self.label |= shallow(argument)

    def argument(self, index: int, default: Value | None = None) -> Value:
        """The argument at the place, or the default.

        Raises:
            Raised: There is neither.
        """
        if index < len(self.arguments):
            return self.arguments[index]
        if default is None:
            raise raised("TypeError", f"{self.name}() needs {index + 1} arguments", self.label)
        return default
