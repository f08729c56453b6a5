"""The parts of which `Turns` is made: wrappers, the tools' section, the results, and what a reply's writer is told.

Records only; what is done with them is in `turns`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Literal, NamedTuple, TypeAlias

from wieldy.core.messages import Message
from wieldy.formats.turns.tool_lists import ToolList


class Slot(Enum):
    """A place in a template that a result fills."""

    CONTENT = auto()
    """The text that the tool gave."""
    JSON_TEXT = auto()
    """The same as a JSON string."""
    JSON_VALUE = auto()
    """The same as it is if it is JSON, and as a JSON string otherwise."""
    NAME = auto()
    """The tool's name as it was called."""
    ID = auto()
    """The call's id on this wire."""
    ORDINAL = auto()
    """1 for the first call of its reply, 2 for the second."""
    ERROR = auto()
    """`true` for a failed call, `null` for any other."""


Template: TypeAlias = tuple[str | Slot, ...]

ToolPlace: TypeAlias = Literal[
    "system_end", "system_start", "before_system", "after_system", "first_user", "last_user", "before_last_user"
]
"""Where the tools are listed: inside the system message, in a turn of their own, or at the start of a user's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrap:
    """What stands before and after a turn's text.

    Attributes:
        open: Begins the turn.
        close: Ends it.
        head: Stands before the words of a system message, but not before tools that are listed in its turn.
        tail: Stands after those words.
    """

    open: str = ""
    close: str = ""
    head: str = ""
    tail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSection:
    """Which tools there are, and how they are called.

    Attributes:
        tools: Writes the list, with its instructions.
        place: Where it stands.
        open: Stands before it; for a turn of its own the turn's opening.
        close: Stands after it.
        between: Stands between it and the message that it shares a turn with.
        without: Stands there instead of all that if there are no tools.
    """

    tools: ToolList
    place: ToolPlace = "system_end"
    open: str = ""
    close: str = ""
    between: str = "\n\n"
    without: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """How the results of one reply's calls are told to the model.

    Results that follow one another are one group. With empty `open`, `between` and `close` each is a turn of its own.

    Attributes:
        each: One result.
        open: Stands before the first.
        between: Stands between two.
        close: Stands after the last.
        markers: Texts that mean something in results only, such as the end of one.
    """

    each: Template
    open: str = ""
    between: str = ""
    close: str = ""
    markers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyPlace:
    """What the writer of a reply has to know about where it stands.

    Attributes:
        user_follows: A user speaks later on, so that reasoning of this reply is over.
        calls_before: How many calls earlier replies made.
        wire_ids: The ids of this reply's calls on this wire; the results carry the same.
        prefill: What already stands of the reply, as part of the generation prompt; it is not to be written again.
    """

    user_follows: bool = False
    calls_before: int = 0
    wire_ids: tuple[str, ...] = ()
    prefill: str = ""


WriteReply: TypeAlias = Callable[[Message, ReplyPlace], str]
"""Writes a reply without the wrappers of its turn."""


class ReplySpan(NamedTuple):
    """Where in a conversation's text stands what the model itself wrote: its reply, and the mark that ends its turn.

    Attributes:
        message: Which of the messages it is.
        start: Behind what the generation prompt has of the reply already.
        reply_end: Where the reply ends.
        end: Behind the mark that the model writes to end its turn; `reply_end` where it writes none there.
    """

    message: int
    start: int
    reply_end: int
    end: int
