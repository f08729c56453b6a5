"""Short ways to write what many families share; see `wieldy.formats.turns.parts` for the records."""

from __future__ import annotations

from wieldy.formats.turns.turns import Results, Slot, Template, Wrap

RESPONSE = ("<tool_response>", "</tool_response>")
RESPONSE_LINES: Template = ("<tool_response>\n", Slot.CONTENT, "\n</tool_response>")


def words(markers: str) -> tuple[str, ...]:
    """The markers in a text, which are parted by spaces."""
    return tuple(markers.split())


def each(wrap: Wrap, *content: str | Slot) -> Results:
    """Each result is a turn of its own."""
    return Results(each=(wrap.open, *(content or (Slot.CONTENT,)), wrap.close))


def together(wrap: Wrap, result: Template, *, between: str = "\n", markers: tuple[str, ...] = RESPONSE) -> Results:
    """All results are one turn."""
    return Results(each=result, open=wrap.open, between=between, close=wrap.close, markers=markers)
