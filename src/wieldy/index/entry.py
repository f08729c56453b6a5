"""What is indexed."""

from __future__ import annotations

from wieldy.core.record import Record


class Entry(Record, frozen=True, kw_only=True):
    """One thing that can be found.

    Attributes:
        name: Unique in an index.
        text: What it is, in a sentence or some.
        labels: Short names of its parts, such as a tool's parameters.
        details: What is said about these.
    """

    name: str
    text: str = ""
    labels: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
