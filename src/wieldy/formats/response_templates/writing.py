"""A chat format as a response template: regions, calls one by one or as one array, and messages with headers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias, TypeGuard

from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject, JsonValue
from wieldy.formats.format import ChatFormat
from wieldy.formats.nodes.flat import CallId, Flat, Gap, Index, Literal, Name, WithId
from wieldy.formats.nodes.json_calls import JsonArguments, JsonCall
from wieldy.formats.nodes.object_notation import ObjectNotation
from wieldy.formats.nodes.python_calls import PythonArguments
from wieldy.formats.nodes.tagged import Key, TaggedArguments, TypeMark
from wieldy.formats.turns.turns import Turns
from wieldy.formats.wires.harmony import HarmonyWire
from wieldy.formats.wires.reply import Region
from wieldy.formats.wires.section import Call, Section
from wieldy.formats.wires.wire import Wire

Node: TypeAlias = Flat | Key
_SPACE = r"\s*"
_ENDS_IN_SPACE = (_SPACE, _SPACE + ")?")
_JOINED: JsonObject = {"content": "text", "content_args": {"strip": False}, "repeats": True, "join": ""}


def to_response_template(chat_format: ChatFormat) -> JsonObject:
    """The `response_template` with which transformers reads what the format writes.

    Marks that may be missing and other spellings of marks are in it; other things that the format tolerates are not.

    Raises:
        UsageError: The format has a node that no template can express; the text names it.
    """
    try:
        read = _fields(chat_format)
    except _NotCarriedError as error:
        raise UsageError(
            f"The format {chat_format.name!r} cannot be written as a response template: expected nodes that a template "
            f"can express, found {error}. Read its replies with Wieldy's own parser."
        ) from None
    return {"defaults": {"role": "assistant"}, "start_anchor": list(_anchors(chat_format)), "fields": read}


class _NotCarriedError(Exception):
    """Names a node that no template can express."""


def _fields(chat_format: ChatFormat) -> JsonObject:
    ends = _one_of(chat_format.turns.reply_end) if chat_format.turns.reply_end else ""
    match chat_format.wire:
        case HarmonyWire() as wire:
            return _messages(wire)
        case Wire(reasoning=reasoning) as wire:
            calls = _calls(wire.calls, ends)
            thought = {"reasoning_content": _reasoning(wire, reasoning, ends)} if reasoning else {}
            return {**thought, "tool_calls": calls, "content": _content(wire, ends)}
        case other:
            raise _NotCarriedError(f"a {type(other).__name__}")


def _anchors(chat_format: ChatFormat) -> tuple[str, ...]:
    """What stands before a reply: the opening of its turn, or the end of what comes before where that has none."""
    turns, reasoning = chat_format.turns, getattr(chat_format.wire, "reasoning", None)
    opening, marks = turns.assistant.open, [reasoning.open.text, reasoning.close.text] if reasoning else []
    base = opening
    for mark in marks:
        base = base.partition(mark)[0]
    anchors = [base or turns.user.close]
    before = opening + turns.prefill
    if marks and marks[1] in before and marks[0] not in before:
        anchors.append(base + marks[1])  # a template does not pass over a closing mark that nothing has opened
    if not base or turns.openings.get(("tool", "assistant")) == "":
        anchors.append(_end_of_results(turns))
    return tuple(dict.fromkeys(anchor for anchor in anchors if anchor))


def _end_of_results(turns: Turns) -> str:
    last = turns.results.each[-1] if turns.results.each else ""
    return turns.results.close or (last if isinstance(last, str) else "")


# Reasoning and text


def _reasoning(wire: Wire, region: Region, ends: str) -> JsonObject:
    closes = [f"{_gap(region.end)}{_mark(region.close)}{_gap(region.behind)}"]
    if wire.calls_in_reasoning == "calls":
        closes.append(f"(?={_unnamed(_opening(wire.calls))})")
    if wire.content:
        closes.append(f"(?={_gap(wire.content.before)}{_mark(wire.content.open)})")
    opening = f"{_gap(region.before)}{_mark(region.open)}{_gap(region.begin)}"
    return {"open_pattern": opening, "close_pattern": "|".join([*closes, *_end(ends)]), **_JOINED}


def _content(wire: Wire, ends: str) -> JsonObject:
    """All that is in no other field, without marks; what closes calls stands first, what ends a reply last."""
    # In the closing of a call this would be optional, and whether it is seen there depends on where the text was cut.
    section = wire.calls
    passed = [_SPACE + _last(_bare(section.close))] if section.close and not _is_array(section) else []
    passed += [_mark(mark) for mark in wire.stray]
    if wire.reasoning:
        passed.append(f"{_gap(wire.reasoning.end)}{_mark(wire.reasoning.close)}{_gap(wire.reasoning.behind)}")
    if wire.content:
        passed.append(f"{_gap(wire.content.before)}{_mark(wire.content.open)}{_gap(wire.content.begin)}")
        passed.append(f"{_gap(wire.content.end)}{_mark(wire.content.close)}{_gap(wire.content.behind)}")
    if wire.begin is not None:
        passed.append(r"^\s+")
    ends_in_layout = wire.end is not None or wire.calls.before is not None
    # Space at the end of what has come would hide that it is within a mark.
    if ends_in_layout and " " not in "".join(passed):
        passed.append(r"\s+$")
    last = [(_SPACE if ends_in_layout else "") + end for end in _end(ends)] or [r"\s+$"]
    return {"close_pattern": "|".join([*passed, *last]), **_JOINED}


def _end(ends: str) -> list[str]:
    return [ends + _SPACE] if ends else []


# Calls


def _calls(section: Section, ends: str) -> JsonObject:
    if section.claimed_by == "name" or section.at_line_start:
        raise _NotCarriedError("calls that only a known name tells from text (Section.claimed_by, at_line_start)")
    if section.pretended:
        raise _NotCarriedError("names with which nothing is called (Section.pretended)")
    arguments = section.call.arguments
    if isinstance(arguments, JsonCall | PythonArguments) and _is_array(section):
        return _array(section, arguments, ends)
    if any(isinstance(node, Literal) and node.required for node in section.between):
        raise _NotCarriedError("marks between calls that stand for themselves (Section.between)")
    name, read = _arguments(section.call)
    function: JsonValue = "{content}" if name is None else name
    has_id = any(isinstance(node, CallId) for node in section.call.head)
    return {
        "open_pattern": _opening(section),
        "close_pattern": _closing(section, ends),
        "repeats": True,
        **read,
        "transform": {"type": "function", **({"id": "{id}"} if has_id else {}), "function": function},
    }


def _is_array(section: Section) -> bool:
    """Whether calls have no marks of their own."""
    return not any(isinstance(node, Literal) for node in section.call.head)


def _opening(section: Section) -> str:
    """The marks of the section, if this is its first call, and the head of a call."""
    opening, head = _last(_bare(section.open)), _last(_bare(section.call.head))
    if section.before is not None:
        return f"{_SPACE}(?:{opening}{_SPACE})?{head}" if opening else _SPACE + head
    between = _SPACE if opening or section.between else ""
    return (f"(?:{opening})?" if opening else "") + between + head


def _bare(nodes: Sequence[Flat]) -> Sequence[Flat]:
    """The nodes without layout at their edges."""
    kept = [index for index, node in enumerate(nodes) if not isinstance(node, Gap)]
    return nodes[kept[0] : kept[-1] + 1] if kept else ()


def _closing(section: Section, ends: str) -> str:
    close = section.call.close
    if any(isinstance(node, Literal) and node.required for node in close):
        return _last(close)
    return "|".join([f"(?={_unnamed(_opening(section))})", *(_SPACE + end for end in _end(ends))])


def _arguments(call: Call) -> tuple[JsonValue, JsonObject]:
    """What the transform has as the function (None for all that was read), and how arguments are read."""
    named: JsonValue = {"name": "{name}", "arguments": "{content}"}
    match call.arguments:
        case JsonCall() as node:
            keys = {role: key for role, key in node.fields if role != "id"}
            is_plain = keys == {"name": "name", "arguments": "arguments"}
            function: JsonValue = {role: f"{{content.{key}}}" for role, key in keys.items()}
            return (None if is_plain else function), {"content": "json"}
        case JsonArguments():
            return named, {"content": "json"}
        case ObjectNotation(quote=quote):
            delims: JsonValue = [[quote.text, quote.text]]
            return named, {"content": "json", "content_args": {"unquoted_keys": True, "string_delims": delims}}
        case TaggedArguments(quotes=None) as node:
            mark = "(?:true|false)" if node.types == "string flag" else "[a-z]+"
            opening = "".join(mark if isinstance(part, TypeMark) else _node(part) for part in node.open)
            pattern = f"{opening}(?P<value>.*?){_nodes(node.close)}"
            return named, {"content": "xml-inline", "content_args": {"tag_pattern": pattern}}
        case TaggedArguments():
            raise _NotCarriedError("quotes around raw values (TaggedArguments.quotes)")
        case other:
            raise _NotCarriedError(f"{type(other).__name__} here")


def _array(section: Section, arguments: JsonCall | PythonArguments, ends: str) -> JsonObject:
    """All calls as one stretch, brackets included; nothing but the end of the reply may end it."""
    texts = [node.text if isinstance(node, Literal) else "" for node in section.open]
    start = next((index for index, text in enumerate(texts) if text.endswith("[")), None)
    closes = [node.text if isinstance(node, Literal) else "" for node in section.close]
    if start is None or "]" not in closes:
        raise _NotCarriedError(f"{type(arguments).__name__} without marks or brackets around calls")
    opening = _nodes((*section.open[:start], Literal(texts[start][:-1])))
    marks = [node for node in section.close[closes.index("]") + 1 :] if isinstance(node, Literal)]
    closing = [_one_of(mark.spellings) for mark in marks]
    is_closed = any(mark.required for mark in marks)
    keys = dict(arguments.fields) if isinstance(arguments, JsonCall) else {}
    return {
        "open_pattern": rf"{_gap(section.before)}{opening}(?=\[)",
        "close_pattern": _SPACE + (closing[-1] if is_closed else f"(?:{'|'.join([*closing, ends or '$'])}){_SPACE}"),
        "content": "json" if isinstance(arguments, JsonCall) else "python-call-list",
        "transform_each": True,
        "transform": {
            "type": "function",
            "function": {role: f"{{{keys.get(role, role)}}}" for role in ("name", "arguments")},
        },
    }


# Messages with headers


def _messages(wire: HarmonyWire) -> JsonObject:
    marks = wire.marks
    begin = f"(?:{_text(marks.start.text + marks.role)})?"
    channel, message = _mark(marks.channel), _mark(marks.message)
    close: JsonValue = [mark.text for mark in marks.ends]

    def said_on(meaning: str) -> JsonObject:
        channels = _one_of([name for name, means in wire.channels.items() if means == meaning])
        return {"open_pattern": f"{begin}{channel}{channels}{message}", "close": close, **_JOINED}

    recipient = rf"\s*{_text(marks.to.strip() + marks.namespace)}(?P<name>[^\s<]+)"
    calls: JsonObject = {
        "open_pattern": f"{begin}(?:{channel}{_text(wire.written_on['call'])})?{recipient}.*?{message}",
        "close": close,
        "repeats": True,
        "content": "json",
        "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}},
    }
    return {"reasoning_content": said_on("reasoning"), "tool_calls": calls, "content": said_on("content")}


# Nodes as expressions


def _nodes(nodes: Iterable[Node]) -> str:
    """The nodes one after the other; never layout beside layout, which would be tried in every division."""
    written, listed = "", [*nodes]
    for before, node, behind in zip((Gap(), *listed), listed, (*listed[1:], None), strict=False):
        if (
            isinstance(node, Gap)
            and (isinstance(before, Gap) or _may_be_missing(before))
            and written.endswith(_ENDS_IN_SPACE)
        ):
            continue
        if _may_be_missing(node) and isinstance(before, Gap) and isinstance(behind, Gap):
            written += f"(?:{_one_of(node.spellings)}{_SPACE})?"
        else:
            written += _node(node)
    return written


def _may_be_missing(node: Node) -> TypeGuard[Literal]:
    return isinstance(node, Literal) and not node.required


def _node(node: Node) -> str:
    match node:
        case Literal():
            return _mark(node)
        case Gap():
            return _SPACE
        case Name(allowed=allowed):
            return f"(?P<name>[{allowed}]+)"
        case Key(allowed=allowed):
            return f"(?P<key>[{allowed}]+)"
        case Index():
            return "[0-9]+"
        case CallId(nodes=(), allowed=allowed):
            return f"(?P<id>[{allowed}]+)"
        case CallId(nodes=nodes):
            return f"(?P<id>{_nodes(nodes)})"
        case WithId(nodes=nodes):
            return f"(?:{_nodes(nodes)})?"


def _last(nodes: Sequence[Node]) -> str:
    """The nodes where nothing follows: a last mark has to stand there, in a spelling that no other one begins with.

    Otherwise whether it is seen, or which spelling, would depend on where the text was cut.
    """
    index = max((index for index, node in enumerate(nodes) if isinstance(node, Literal)), default=len(nodes))
    if any(isinstance(node, Name | Index | CallId) for node in nodes[index:]):
        return _nodes(nodes)
    ends = [_one_of(_distinct(node.spellings)) for node in nodes[index : index + 1] if isinstance(node, Literal)]
    return _nodes(nodes[:index]) + "".join(ends) + _nodes(nodes[index + 1 :])


def _distinct(spellings: Sequence[str]) -> list[str]:
    kept: list[str] = []
    for spelling in spellings:
        if not any(spelling.startswith(other) or other.startswith(spelling) for other in kept):
            kept.append(spelling)
    return kept


def _unnamed(pattern: str) -> str:
    return pattern.replace("(?P<name>", "(?:").replace("(?P<id>", "(?:")


def _mark(literal: Literal) -> str:
    if not literal.spellings:
        return ""
    return _one_of(literal.spellings) if literal.required else f"(?:{'|'.join(map(_text, literal.spellings))})?"


def _gap(gap: Gap | None) -> str:
    return "" if gap is None else _SPACE


def _one_of(texts: Sequence[str]) -> str:
    """Any of the texts in this order, but none before one that begins with it, for the first that fits is taken."""
    options = [_text(text) for text in sorted(texts, key=lambda text: sum(other.startswith(text) for other in texts))]
    return options[0] if len(options) == 1 else f"(?:{'|'.join(options)})"


def _text(text: str) -> str:
    escaped = "".join("\\" + character if character in r"\.^$*+?{}[]|()" else character for character in text)
    return escaped.replace("\n", r"\n")
