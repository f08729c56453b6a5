"""The field `tool_calls` of a response template as a section: one stretch for each call, or one for all."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import cast

from wieldy.formats.nodes.flat import Arguments, Flat, Gap, Literal, Name
from wieldy.formats.nodes.json_calls import JsonArguments, JsonCall
from wieldy.formats.nodes.object_notation import ObjectNotation
from wieldy.formats.nodes.python_calls import PythonArguments
from wieldy.formats.nodes.tagged import Key, TaggedArguments, TagNode, TypeMark, Types
from wieldy.formats.response_templates.expressions import Choice, Piece, Run, Text, nodes, pieces, texts
from wieldy.formats.response_templates.fields import Field, refused
from wieldy.formats.wires.section import Call, Section

_LAYOUT = Gap()
_LINE = Literal("\n", required=False)
_NAMED = ("{name}", "{content}")
_MEMBER = re.compile(r"\{(?:content\.)?(\w+)\}")
_TAG_WITH_NAME = re.compile(r"<([\w:.-]+)(?:=| .*)\Z", re.DOTALL)


def section_of(
    field: Field, ends: tuple[str, ...], strays: list[Literal], *, strips: bool
) -> tuple[Section, list[Literal]]:
    """The section, and the stray marks that do not close it.

    Args:
        field: The field `tool_calls`.
        ends: What ends a reply.
        strays: Marks that are passed over.
        strips: Whether layout around text is dropped.

    Raises:
        UsageError: A part of the field has no node.
    """
    if not field.open:
        raise refused(f"{field.where}.open", "a mark that opens calls", "none")
    opening = field.open[0] if len(field.open) == 1 else (Choice(field.open),)
    begins_in_layout = isinstance(next(iter(opening), None), Gap)
    before = _LAYOUT if strips or begins_in_layout else None
    if field.is_each:
        return _array(field, opening, ends, before), strays
    outer: tuple[Flat, ...] = ()
    closes: tuple[Flat, ...] = ()
    opening = opening[1:] if begins_in_layout else opening
    # An opening that may be missing and a mark that is passed over first: the marks of a section.
    if strays and opening and isinstance(opening[0], Choice) and opening[0].is_optional:
        outer, opening = nodes(opening[:1], where=f"{field.where}.open"), opening[1:]
        closes, strays = (_LAYOUT, strays[0]), strays[1:]
    head = _trimmed(nodes(opening, where=f"{field.where}.open"))
    if not any(isinstance(node, Literal) and node.required for node in _before_name(head)):
        raise refused(f"{field.where}.open", "a mark before the name that opens calls", "none that must stand there")
    close = _close(field, ends)
    if field.content == "xml-inline":
        close = (*_closed_tags(head, close), *close)
    # Layout around what is parsed counts nowhere.
    head, close = (*_trimmed(head[::-1])[::-1], _LAYOUT), (_LAYOUT, *_trimmed(close))
    call = Call(head=head, arguments=_arguments(field), close=close)
    return Section(before=before, open=outer, call=call, between=(_LAYOUT,), close=closes), strays


def _trimmed(found: tuple[Flat, ...]) -> tuple[Flat, ...]:
    return found[1:] if found and isinstance(found[0], Gap) else found


def _close(field: Field, ends: tuple[str, ...]) -> tuple[Flat, ...]:
    """What stands behind the arguments, without what ends the reply as well."""
    where, found = f"{field.where}.close", list[tuple[Flat, ...]]()
    for option in field.close:
        close = [_without_end(node, ends) for node in nodes(option, where=where)]
        kept = tuple(node for node in close if isinstance(node, Gap) or (isinstance(node, Literal) and node.spellings))
        if any(isinstance(node, Literal) for node in kept):
            found.append(kept[:-1] if isinstance(kept[-1], Gap) else kept)
    if len(found) > 1:
        return (texts(field.close, where=where),)
    return found[0] if found else ()


def _without_end(node: Flat, ends: tuple[str, ...]) -> Flat:
    if not isinstance(node, Literal):
        return node
    kept = [text for text in node.spellings if text not in ends]
    if not kept:
        return Literal("")
    end = next((end for end in ends if kept[0].endswith(end)), "")
    return Literal(kept[0].removesuffix(end), also=tuple(kept[1:]), required=node.required)


def _closed_tags(head: Sequence[Flat], close: Sequence[Flat]) -> tuple[Flat, ...]:
    """The end of the tag with the name, where the template lets it be part of what it reads over."""
    last = next((node.text for node in reversed(_before_name(head)) if isinstance(node, Literal)), "")
    tag = _TAG_WITH_NAME.search(last)
    if not tag or any(isinstance(node, Literal) and f"</{tag[1]}>" in node.spellings for node in close):
        return ()
    return (Literal(f"</{tag[1]}>", required=False), _LAYOUT)


def _before_name(head: Sequence[Flat]) -> list[Flat]:
    """What stands before the name."""
    return list(takewhile(lambda node: not isinstance(node, Name), head))


def _array(field: Field, opening: tuple[Piece, ...], ends: tuple[str, ...], before: Gap | None) -> Section:
    where = f"{field.where}.close"
    marks = texts(field.close, where=where).spellings if field.close else ()
    closing = [text for text in marks if text not in ends]
    is_closed = bool(closing) and len(closing) == len(marks)
    close = (_LAYOUT, Literal(closing[0], also=tuple(closing[1:]), required=is_closed)) if closing else ()
    name, arguments = _transform(field)
    call = Call(arguments=JsonCall(fields=(("name", name), ("arguments", arguments))))
    if field.content == "python-call-list":
        call = Call(head=(Name(),), arguments=PythonArguments())
    elif field.content != "json":
        raise refused(f"{field.where}.content", "'json' or 'python-call-list' for a list of calls", field.content)
    marks_before = _trimmed(nodes(opening, where=f"{field.where}.open"))
    if not any(isinstance(node, Literal) and node.required for node in marks_before):
        raise refused(f"{field.where}.open", "a mark that opens the list of calls", "none that must stand there")
    return Section(
        before=before,
        open=(*marks_before, _LAYOUT, Literal("[", required=not is_closed)),
        call=call,
        between=(Literal(","), Gap(" ")),
        close=(_LAYOUT, Literal("]", required=not is_closed), *close),
    )


def _arguments(field: Field) -> Arguments:
    name, arguments = _transform(field)
    if (name, arguments) != _NAMED:
        if field.content != "json" or field.arguments:
            raise refused(f"{field.where}.content", "'json' without arguments for whole calls", field.content)
        return JsonCall(fields=(("name", name), ("arguments", arguments)))
    match field.content, dict(field.arguments):
        case "json", more if not more:
            return JsonArguments()
        case "json", {"unquoted_keys": True, "string_delims": [[str(quote), str(other)]], **more} if (
            quote == other and not more
        ):
            return ObjectNotation(quote=Literal(quote))
        case "xml-inline", {"tag_pattern": str(pattern), **more}:
            return _tags(field, pattern, more)
        case content, more:
            raise refused(
                f"{field.where}.content", "'json' or 'xml-inline' as chat formats have them", f"{content} {more}"
            )


def _transform(field: Field) -> tuple[str, str]:
    """The placeholders of name and arguments, or the keys of a call's members."""
    transform = field.transform
    if isinstance(transform, list):
        transform = next(iter(cast("list[object]", transform)), None)
    match transform:
        case {"function": "{content}"} if not field.is_each:
            return "name", "arguments"
        case {"function": {"name": "{name}", "arguments": "{content}"}} if not field.is_each:
            return _NAMED
        case {"function": {"name": str(name), "arguments": str(arguments)}}:
            keys = [_MEMBER.fullmatch(text) for text in (name, arguments)]
            is_dotted = ["content." in text for text in (name, arguments)]
            if keys[0] and keys[1] and set(is_dotted) == {not field.is_each}:
                return keys[0][1], keys[1][1]
        case _:
            pass
    raise refused(f"{field.where}.transform", "a function with name and arguments", repr(transform)[:120])


def _tags(field: Field, pattern: str, more: Mapping[str, object]) -> TaggedArguments:
    where = f"{field.where}.content_args.tag_pattern"
    parser = more.get("value_parser")
    is_known = parser is None or (
        isinstance(parser, dict) and cast("dict[str, object]", parser).get("name") in ("text", "json")
    )
    if not is_known or more.get("merge_duplicates"):
        raise refused(f"{field.where}.content_args", "values as text or JSON, each name once", repr(more)[:120])
    options = pieces(pattern, where=where)
    names = [piece.name if isinstance(piece, Choice) else "" for piece in options[0]]
    if len(options) != 1 or names.count("key") != 1 or names.count("value") != 1:
        raise refused(where, "one expression with the groups 'key' and 'value'", repr(pattern)[:120])
    at, key, value = options[0], names.index("key"), names.index("value")
    if key > value or at[value] != Choice(((Run(""),),), "value"):
        raise refused(where, "the key before a value that may be any text", repr(pattern)[:120])
    between, types = _before_value(at[key + 1 : value], where)
    behind = nodes(at[value + 1 :], where=where)
    close = (_LINE if _is_line(behind[0]) else behind[0], *behind[1:]) if behind else ()
    before = (*_marks_only(nodes(at[:key], where=where)), _key(at[key], where), *between)
    for marks in (before, close):
        if not any(isinstance(node, Literal) and node.required for node in marks):
            raise refused(where, "a mark before and a mark behind each argument", repr(pattern)[:120])
    return TaggedArguments(open=before, close=_marks_only(close), types=types)


def _marks_only(found: Sequence[Flat]) -> tuple[Literal | Gap, ...]:
    return tuple(node for node in found if isinstance(node, Literal | Gap))


def _key(piece: Piece, where: str) -> Key:
    match piece:
        case Choice(options=((Run(allowed=allowed),),)):
            return Key(allowed=allowed) if allowed.startswith("^") and allowed != r"^\s" else Key()
        case _:
            raise refused(where, "a key of characters of one class", "something else")


def _before_value(between: Sequence[Piece], where: str) -> tuple[tuple[TagNode, ...], Types]:
    """What stands between key and value, the mark of a type among it."""
    found, types = list[TagNode](), cast("Types", "none")
    rest: list[Piece] = []
    for piece in between:
        match piece:
            case Run(allowed="a-z"):
                types = "name"
            case Choice(options=((Text(text="true"),), (Text(text="false"),)), is_optional=False):
                types = "string flag"
            case _:
                rest.append(piece)
                continue
        found += [*_marks_only(nodes(rest, where=where)), TypeMark()]
        rest = []
    found += _marks_only(nodes(rest, where=where))
    if found and _is_line(found[-1]):
        found[-1] = _LINE
    return tuple(found), types


def _is_line(node: object) -> bool:
    """Whether it is layout next to a value: models write a line break there, and other layout is the value's own."""
    return isinstance(node, Gap) or node == _LINE
