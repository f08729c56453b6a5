"""Whose data had a part in a call: in which of its arguments, and in that it is made at all.

Sources are the names of what strangers may have shaped; nothing here is about data that is trusted. Deliberately not
here: how it is known (`sandbox.tracked`, `run.actions.code`), and what follows from it (`run.policy`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from wieldy.core.record import Record

Sources: TypeAlias = tuple[str, ...]
"""Names of untrusted sources, each once, in the order in which they were read or in that of the alphabet."""


class Influence(Record, frozen=True, kw_only=True):
    """The untrusted sources that had a part in one call.

    Attributes:
        arguments: By the path of a value in the arguments, as rules name it (`order.lines.0`): those that had a part in
            the value there, or in what lies within it. Paths that are left out have none; the empty one is that of all.
        decided_by: Those that had a part in whether, how often and in which order the call is made.
        survived: Those that could have made the code that makes it fail, or go on for ever, before.
    """

    arguments: Mapping[str, Sources] = {}
    decided_by: Sources = ()
    survived: Sources = ()

    @classmethod
    def everywhere(cls, sources: Iterable[str]) -> Influence:
        """These sources had a part in all of the call."""
        names = tuple(dict.fromkeys(sources))
        return cls(arguments={"": names}, decided_by=names, survived=names) if names else cls()

    @property
    def sources(self) -> Sources:
        """All that had a part in an argument, or in that the call is made."""
        return joined(self.decided_by, *self.arguments.values())

    def of(self, path: str) -> Sources:
        """Those that had a part in the value at a path, in what it lies in, or in what lies within it."""
        return joined(*(sources for each, sources in self.arguments.items() if is_about(each, path)))

    def among(self, counts: Callable[[str], bool]) -> Influence:
        """Of the sources only those that count."""
        arguments = {path: tuple(filter(counts, sources)) for path, sources in self.arguments.items()}
        return Influence(
            arguments={path: sources for path, sources in arguments.items() if sources},
            decided_by=tuple(filter(counts, self.decided_by)),
            survived=tuple(filter(counts, self.survived)),
        )

    def with_all(self, sources: Iterable[str]) -> Influence:
        """These sources had a part in all of the call as well."""
        others = Influence.everywhere(sources)
        paths = dict.fromkeys((*self.arguments, *others.arguments))
        return Influence(
            arguments={path: joined(self.arguments.get(path, ()), others.arguments.get(path, ())) for path in paths},
            decided_by=joined(self.decided_by, others.decided_by),
            survived=joined(self.survived, others.survived),
        )

    def without_paths(self) -> Influence:
        """The same where nobody knows any more which argument a value stands in."""
        sources = joined(*self.arguments.values())
        arguments = {"": sources} if sources else {}
        return Influence(arguments=arguments, decided_by=self.decided_by, survived=self.survived)


def joined(*several: Iterable[str]) -> Sources:
    """Each source once, in the order in which they first stand."""
    return tuple(dict.fromkeys(source for sources in several for source in sources))


def is_about(one: str, other: str) -> bool:
    """Whether one of two paths leads to, or through, the value that the other leads to."""
    return not one or not other or one == other or one.startswith(f"{other}.") or other.startswith(f"{one}.")
