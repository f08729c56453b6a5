"""What a tracked interpreter says and is told, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Sources: TypeAlias = frozenset[str]
NOBODY: Sources = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A value of JSON, and where it comes from."""

    value: object
    sources: Sources = NOBODY


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackedCall:
    """A call that the code wants made, and who had a part in it.

    Attributes:
        seq: Its number among the calls of the code, from 0.
        arguments: By the names of the parameters.
        sources: For each argument, whose data had a part in its value.
        parts: The same by the path of each part of an argument: whose data had a part in it and not in all that it lies
            in.
        decided_by: Whose data had a part in whether, how often and in which order the call is made.
        survived: Whose data could have made the code fail, or go on for ever, before the call was reached.
        line: Where it stands in the code.
    """

    seq: int
    name: str
    arguments: Mapping[str, object]
    sources: Mapping[str, Sources]
    parts: Mapping[tuple[str, ...], Sources]
    decided_by: Sources
    survived: Sources
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """The code cannot go on without answers to these calls; they may be made at once."""

    calls: tuple[TrackedCall, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The code came to its end.

    Attributes:
        value: JSON; where the code's value is none, a text that describes it.
        sources: Whose data had a part in the value.
        stdout_sources: Whose data had a part in what was printed.
    """

    value: object
    sources: Sources
    stdout: str
    stdout_sources: Sources


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The code ended with an exception of its own, or reached a limit (`error` is "Limit" then).

    Attributes:
        message: Text that the code, or whoever had a part in its data, may have chosen.
        line: Of the code, from 1; 0 where it is not known.
        sources: Whose data had a part in the message, or in that it failed.
    """

    error: str
    message: str
    line: int
    sources: Sources
    stdout: str
    stdout_sources: Sources


Step: TypeAlias = Calls | Done | Failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a call brought, and where that comes from; those who had a part in the call are added."""

    value: object
    sources: Sources = NOBODY


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFailure:
    """A call failed; the code may catch it as a `ToolError` that has the kind as `kind`."""

    kind: str
    message: str
    sources: Sources = field(default=NOBODY)


Answer: TypeAlias = Reply | ToolFailure
