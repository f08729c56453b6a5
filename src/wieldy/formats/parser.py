"""Reading what a model writes, while it writes.

Law: the events do not depend on where the text was cut; `Parser` fed once is the complete parser.
"""

from __future__ import annotations

from collections.abc import Callable

from wieldy.core.errors import UsageError
from wieldy.formats.events import ParseEvent, Span
from wieldy.formats.reading.sink import Sink
from wieldy.formats.reading.source import TOKEN, Reading, Source
from wieldy.formats.reading.tool_index import ToolIndex
from wieldy.schema.repair import RepairLevel


class Parser:
    """Takes text piece by piece and gives events; never raises for what a model wrote.

    Cost: linear in the text; the work per piece does not grow with what came before.
    """

    __slots__ = ("_is_closed", "_reading", "_sink", "_source", "_tokens")

    def __init__(
        self,
        read: Callable[[Source, Sink], Reading[None]],
        tools: ToolIndex,
        *,
        id_prefix: str = "call_",
        tokens: frozenset[str] = frozenset(),
        repair: RepairLevel = 1,
    ) -> None:
        self._tokens = tokens
        self._source = Source(knows_tokens=bool(tokens))
        self._sink = Sink(self._source, tools, id_prefix=id_prefix, repair=repair)
        self._reading = read(self._source, self._sink)
        self._is_closed = False
        next(self._reading)

    def feed(self, piece: str, *, is_token: bool = False) -> list[ParseEvent]:
        """The events that the next piece of text brings.

        Args:
            piece: Any number of characters.
            is_token: Whether the piece is one special token; only looked at if the parser knows tokens.

        Raises:
            UsageError: The parser is closed, or the piece is no text.
        """
        if self._is_closed:
            raise UsageError("This parser is closed; make a new one for the next reply.")
        if not isinstance(piece, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"Expected a piece of text, found {type(piece).__name__}; decode bytes before.")
        if not piece:
            return []
        source = self._source
        if source.knows_tokens:
            piece = piece.replace(TOKEN, "\ufffd")
            piece = TOKEN + piece if is_token and piece in self._tokens else piece
        source.push(piece)
        next(self._reading, None)
        return self._sink.drain()

    def close(self) -> list[ParseEvent]:
        """The events that the end of the text brings; a second time, none."""
        if self._is_closed:
            return []
        self._is_closed = True
        self._source.ended = True
        next(self._reading, None)
        return self._sink.drain()

    @property
    def spans(self) -> tuple[Span, ...]:
        """What everything read so far was read as, without gaps."""
        return self._source.spans
