"""A response template as a chat format: what can be mapped onto our nodes, and a refusal that names the rest.

A template does not say how layout is written, so layout that may be there is written as none, and nothing of how
conversations are written: those want the model's own chat template, or `turns`. Text that a template drops is content.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from wieldy.core.calls import AnyCall, ToolDefinition
from wieldy.core.errors import UsageError
from wieldy.core.messages import Message
from wieldy.formats.catalogue.harmony import HARMONY
from wieldy.formats.format import ChatFormat
from wieldy.formats.nodes.flat import CallId, Flat, Gap, Index, Literal, Name
from wieldy.formats.response_templates.call_fields import section_of
from wieldy.formats.response_templates.expressions import Choice, Edge, Piece, nodes, texts
from wieldy.formats.response_templates.fields import Field, checked_fields, refused, start_anchor
from wieldy.formats.turns.turns import Results, Turns, Wrap, WriteReply
from wieldy.formats.turns.wire_ids import WireId, as_given
from wieldy.formats.wires.reply import Region
from wieldy.formats.wires.section import Section
from wieldy.formats.wires.wire import Wire

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
    wire = _wire(fields, reasoning, ends, passed, opening)
    if turns is None:
        assistant = Wrap(open=opening, close=ends[0] if ends else "")
        turns = _ReplyTurns(
            user=Wrap(), assistant=assistant, results=Results(each=()), stops=ends, wire_id=_wire_id(wire.calls)
        )
    return ChatFormat(name=name, models=models, wire=wire, turns=turns, notes=_NOTES)


def _wire_id(calls: Section) -> WireId:
    """How an id is made of which a template says more than its characters."""
    made = next((node.nodes for node in calls.call.head if isinstance(node, CallId) and node.nodes), None)
    if made is None:
        return as_given

    def text(node: Flat, call: AnyCall, index: int) -> str:
        match node:
            case Literal(text=text):
                return text
            case Name():
                return call.name or "unknown"
            case _:
                return str(index) if isinstance(node, Index) else ""

    return lambda call, index: "".join(text(node, call, index) for node in made)


def _is_harmony(fields: Mapping[str, Field]) -> bool:
    """Whether text and reasoning are messages on channels and calls are messages to functions, as gpt-oss has them."""
    opens = [text for key in ("content", "reasoning") if key in fields for text in fields[key].open_text]
    return bool(opens) and all(map(_HARMONY.search, opens)) and "to=functions." in "".join(fields["calls"].open_text)


def _wire(
    fields: Mapping[str, Field], reasoning: Region | None, ends: tuple[str, ...], passed: Sequence[Literal], anchor: str
) -> Wire:
    content, thought = fields.get("content"), fields.get("reasoning")
    region = replace(_region(content, ends), is_optional=True) if content and content.open else None
    strips = content is None or content.strips
    known = reasoning.close.spellings if reasoning else ()
    strays = [literal for literal in passed if literal.text not in known]
    calls, strays = section_of(fields["calls"], ends, strays, strips=strips)
    if region and anchor:
        strays.append(Literal(anchor))  # it stands before each part of a reply, where the template drops it
    closes = [piece for option in thought.close for piece in option] if thought else []
    in_reasoning = any(isinstance(piece, Choice) and piece.is_ahead for piece in closes)
    return Wire(
        calls=calls,
        reasoning=reasoning,
        content=region,
        calls_in_reasoning="calls" if in_reasoning else "text",
        stray=tuple(strays),
        begin=_LAYOUT if strips or _has_edge(content, "^") else None,
        end=_LAYOUT if strips or _has_edge(content, "$") else None,
    )


def _has_edge(field: Field | None, sign: str) -> bool:
    """Whether layout at that edge of the text is passed over."""
    return field is not None and any(Edge(sign) in option and len(option) > 1 for option in field.close)


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
