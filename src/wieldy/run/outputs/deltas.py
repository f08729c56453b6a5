"""Partial outputs while an answer is written, for whoever watches a run.

Stands between what a model streams and the watchers, for one reply. Deliberately not here: how partial JSON is read
(`partial`).
"""

from __future__ import annotations

from collections.abc import Callable

from wieldy.core.events import OutputDelta, RunEvent, TextDelta
from wieldy.run.outputs.document import start_of
from wieldy.run.outputs.partial import Nothing, PartialJson
from wieldy.run.outputs.readers import JsonReader
from wieldy.schema.resolve import accepted_types, type_of


class OutputDeltas:
    """Emits every event and, behind a piece of text that brought more of the output, what there is of it.

    Args:
        emit: Takes events.
        reader: Of what is wanted. What cannot be the beginning of it, such as words before a call, is no output.
    """

    def __init__(self, emit: Callable[[RunEvent], None], reader: JsonReader) -> None:
        self._emit = emit
        self._types = accepted_types(reader.output.schema, ())
        self._partial = PartialJson()
        self._before = ""
        self._has_begun = False

    def __call__(self, event: RunEvent) -> None:
        """The event is emitted, and perhaps an `OutputDelta`."""
        self._emit(event)
        if isinstance(event, TextDelta) and self._feed(event.text):
            self._tell()

    def close(self, *, is_cut: bool) -> None:
        """The reply is the answer, and over: what was not clear before its end is told.

        Args:
            is_cut: Whether a limit ended it, so that a number at its end may be half of one.
        """
        has_news = False
        if not self._has_begun:
            start = start_of(self._before, is_whole=True)
            has_news = self._partial.feed(self._before[start:])
        has_more = not is_cut and self._partial.close()
        if has_more or has_news:
            self._tell()

    def _feed(self, text: str) -> bool:
        if self._has_begun:
            return self._partial.feed(text)
        self._before += text
        start = start_of(self._before, is_whole=False)
        if start is None:
            return False
        self._has_begun = True
        return self._partial.feed(self._before[start:])

    def _tell(self) -> None:
        value = self._partial.value
        if not isinstance(value, Nothing) and type_of(value) in self._types:
            self._emit(OutputDelta(value=value))
