"""A response template as a chat format: what can be mapped onto our nodes, and a refusal that names the rest.

A template does not say how layout is written, so layout that may be there is written as none, and nothing of how
conversations are written: those want the model's own chat template, or `turns`. Text that a template drops is content.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from wieldy.core.calls import ToolDefinition
from wieldy.core.errors import UsageError
from wieldy.core.messages import Message
from wieldy.formats.catalogue.harmony import HARMONY
from wieldy.formats.format import ChatFormat
from wieldy.formats.nodes import Gap, Literal
from wieldy.formats.reply import Region
from wieldy.formats.response_templates.call_fields import section_of
from wieldy.formats.response_templates.expressions import Choice, Edge, Piece, nodes, texts
from wieldy.formats.response_templates.fields import Field, checked_fields, refused, start_anchor
from wieldy.formats.turns import Results, Turns, Wrap, WriteReply
from wieldy.formats.wire import Wire

_LAYOUT = Gap()
_NOTES = (
    "Read from a response template: layout that may stand between marks is written as none.",
    "Attributes of tags other than those that the template names are not read.",
)
_HARMONY = re.compile(r"<\|channel\|>\w+<\|message\|>")


class _ReplyTurns(Turns):
    """Turns of which only the reply's are known."""

    __slots__ = ()

    def render(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolDefinition] = (),
        *,
        write_reply: WriteReply,
        generation_prompt: bool = True,
    ) -> str:
        """Nothing.

        Raises:
            UsageError: Always.
        """
        raise UsageError(
            "Expected turns to write a conversation with, found a format read from a response template, which says "
            "nothing about them. Render with the model's own chat template, or pass turns= to from_response_template."
        )


def from_response_template(
    template: Mapping[str, object], *, name: str, models: str = "", turns: Turns | None = None
) -> ChatFormat:
    """A format that reads the replies that the template reads, with everything that a format of ours can do.

    Args:
        template: The value of `response_template` in a `tokenizer_config.json`.
        name: What the format is called.
        models: Which models write it, for people.
        turns: How conversations are written; without, only replies can be written.

    Raises:
        UsageError: The template is none, or a part of it has no node; the text says which.
    """
    fields = checked_fields(template)
    anchor = start_anchor(template)
    if _is_harmony(fields):
        known = turns or HARMONY.turns
        return ChatFormat(name=name, models=models, wire=HARMONY.wire, turns=known, notes=HARMONY.notes)
    ends, passed = _ends(fields.get("content"))
    opening = anchor
    reasoning = _reasoning(fields.get("reasoning"), ends, anchor)
    if reasoning:
        opening = opening.partition(reasoning.open.text)[0]
    if turns is None:
        turns = _ReplyTurns(
            user=Wrap(),
            assistant=Wrap(open=opening, close=ends[0] if ends else ""),
            results=Results(each=()),
            stops=ends,
        )
    return ChatFormat(
        name=name, models=models, wire=_wire(fields, reasoning, ends, passed, opening), turns=turns, notes=_NOTES
    )


def _is_harmony(fields: Mapping[str, Field]) -> bool:
    """Whether text and reasoning are messages on channels and calls are messages to functions, as gpt-oss has them."""
    opens = [text for key in ("content", "reasoning") if key in fields for text in fields[key].open_text]
    return bool(opens) and all(map(_HARMONY.search, opens)) and "to=functions." in "".join(fields["calls"].open_text)


def _wire(
    fields: Mapping[str, Field], reasoning: Region | None, ends: tuple[str, ...], passed: Sequence[Literal], anchor: str
) -> Wire:
    content, is_marked = fields.get("content"), False
    region = None
    if content and content.open:
        region, is_marked = replace(_region(content, ends), is_optional=True), True
    strips = content is None or content.strips
    gap_before_end = strips or (content is not None and _has_edge(content, "$"))
    known = {text for item in (reasoning,) if item for text in item.close.spellings}
    strays = [literal for literal in passed if not known & set(literal.spellings)]
    calls, strays = section_of(fields["calls"], ends, strays, strips=strips)
    if is_marked and anchor:
        strays.append(Literal(anchor))
    in_reasoning = "reasoning" in fields and any(
        isinstance(piece, Choice) and piece.is_ahead for option in fields["reasoning"].close for piece in option
    )
    return Wire(
        calls=calls,
        reasoning=reasoning,
        content=region,
        calls_in_reasoning="calls" if in_reasoning and fields["reasoning"].open_text != [""] else "text",
        stray=tuple(strays),
        begin=_LAYOUT if strips or (content is not None and _has_edge(content, "^")) else None,
        end=_LAYOUT if gap_before_end else None,
    )


def _has_edge(field: Field, sign: str) -> bool:
    """Whether layout at that edge of the text is passed over."""
    return any(Edge(sign) in option and len(option) > 1 for option in field.close)


def _ends(content: Field | None) -> tuple[tuple[str, ...], list[Literal]]:
    """What ends a reply, and the marks that are passed over: where the last alternative ends in layout, the others."""
    if content is None or content.open:
        return (), []
    options = [option for option in content.close if not any(isinstance(piece, Edge) for piece in option)]
    marks = [texts([option], where=f"{content.where}.close") for option in options]
    if content.close and Edge("$") in content.close[-1][1:]:
        return (), marks
    passes = len(options) > 1 and isinstance(options[-1][-1], Gap)
    last = marks[-1:] if passes else marks
    return tuple(text for mark in last for text in mark.spellings), marks[:-1] if passes else []


def _reasoning(field: Field | None, ends: tuple[str, ...], anchor: str) -> Region | None:
    if field is None:
        return None
    close = texts(field.close, where=f"{field.where}.close")
    if any(map(_is_mark, field.open or ())):
        return _region(field, ends)
    # Opened by nothing: the prompt has the opening mark.
    opening = close.text.replace("</", "<")
    if opening == close.text or opening not in anchor:
        raise refused(f"{field.where}.open", "a mark that opens it, there or in start_anchor", "none")
    return replace(_region(replace(field, open=((),)), ends, opening=Literal(opening)))


def _is_mark(option: Sequence[Piece]) -> bool:
    return any(
        not isinstance(piece, Gap | Edge) and not (isinstance(piece, Choice) and piece.is_ahead) for piece in option
    )


def _region(field: Field, ends: tuple[str, ...], *, opening: Literal | None = None) -> Region:
    """The field between its marks; what ends a reply ends it anyway."""
    if opening is None:
        opening = texts(field.open or (), where=f"{field.where}.open")
    closing = texts(field.close, where=f"{field.where}.close") if field.close else None
    spellings = [text for text in closing.spellings if text not in ends] if closing else []
    if not spellings:
        raise refused(f"{field.where}.close", "a mark of its own that closes it", "none")
    around_open = nodes(next((option for option in field.open or () if _is_mark(option)), ()), where=field.where)
    around_close = nodes(next(option for option in field.close if _is_mark(option)), where=field.where)

    def gap(sequence: Sequence[object], index: int) -> Gap | None:
        found = sequence[index] if sequence else None
        return found if isinstance(found, Gap) else _LAYOUT if field.strips else None

    return Region(
        open=opening,
        close=Literal(spellings[0], also=tuple(spellings[1:])),
        before=gap(around_open, 0),
        begin=gap(around_open, -1),
        end=gap(around_close, 0),
        behind=gap(around_close, -1),
    )
