"""How a call ends: its arguments, and the marks behind them.

Some models forget the last of several marks. It may be missing where what stands behind shows all the same that the
call is over. Deliberately not here: what a model did not write to its end, which is no call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from wieldy.formats.nodes.flat import Arguments, Around, CallId, Flat, Gap, Literal, Name, WithId, parts_of
from wieldy.formats.reading.pattern import SPACE, Either, Group, Part, Pattern
from wieldy.formats.reading.sink import OpenCall
from wieldy.formats.reading.source import Reading, Source


def around_arguments(
    close: tuple[Flat, ...], *, tokens: frozenset[str], behind: tuple[str, ...], shown_by: tuple[Sequence[Part], ...]
) -> Around:
    """Where arguments stand before a close whose last mark may be missing.

    Args:
        close: What stands behind them.
        tokens: The special tokens that are marked in the source.
        behind: The literals with which the next call, or what stands behind the calls, begins.
        shown_by: What may stand behind a close whose last mark is missing.
    """
    shorter = _without_last_mark(close)
    early = (Group("early", parts_of(shorter, tokens)), SPACE, Either(shown_by)) if shorter else ()
    return Around(tokens=tokens, close=close, behind=behind, early=early)


class CallEnding:
    """Reads the arguments of a call and what ends it.

    Args:
        arguments: The node that holds the arguments.
        around: Where they stand.
    """

    def __init__(self, arguments: Arguments, around: Around) -> None:
        self._close = around.close
        self._whole = Pattern(parts_of(around.close, around.tokens))
        self._early = Pattern(around.early) if around.early else None
        self._arguments = arguments.reader(around)

    def read(self, source: Source, call: OpenCall) -> Reading[None]:
        """Takes both.

        Raises:
            WireError: The text is not what the format says.
        """
        yield from self._arguments(source, call)
        if whole := (yield from self._whole.look(source)):
            source.take(whole.end())
        elif self._early and (early := (yield from self._early.look(source))):
            source.take(early.end("early"))
        else:
            raise source.error(described(self._close))


@dataclass(frozen=True, slots=True, kw_only=True)
class Opener:
    """The mark that should stand first in a call and may be missing.

    Attributes:
        spellings: How it may be spelled.
        pattern: Where it stands.
        followed_by: The spellings of the next mark, with which a call may begin too.
    """

    spellings: tuple[str, ...]
    pattern: Pattern
    followed_by: tuple[str, ...]

    def begins(self, head: str) -> bool:
        """Whether it stands first in the text of a head."""
        return head.lstrip().startswith(self.spellings)


def optional_opener(head: Sequence[Flat], first_marks: tuple[str, ...], tokens: frozenset[str]) -> Opener | None:
    """The mark that should stand first in a head and may be missing; None if there is none.

    Args:
        head: What stands before the arguments.
        first_marks: All with which a call may begin, in order.
        tokens: The special tokens that are marked in the source.
    """
    first = next((node for node in head if not isinstance(node, Gap)), None)
    if not isinstance(first, Literal) or first.required:
        return None
    pattern = Pattern((SPACE, *replace(first, required=True).parts(tokens)))
    return Opener(spellings=first.spellings, pattern=pattern, followed_by=first_marks[len(first.spellings) :])


def described(nodes: Sequence[Flat]) -> str:
    """What stands there, for a message."""
    words: list[str] = []
    for node in nodes:
        match node:
            case Literal(text=text) if text.strip():
                words.append(repr(text))
            case Name():
                words.append("the name of a tool")
            case CallId() | WithId():
                words.append("an id")
            case _:
                pass
    return " and ".join(words) or "layout"


def _without_last_mark(nodes: Sequence[Flat]) -> tuple[Flat, ...]:
    """The nodes up to the last mark but one; empty if there is only one."""
    places = [index for index, node in enumerate(nodes) if isinstance(node, Literal) and node.required]
    return tuple(nodes[: places[-2] + 1]) if len(places) > 1 else ()
