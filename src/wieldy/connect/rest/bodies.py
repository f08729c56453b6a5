"""The body of a request, as versions 2.0 and 3 describe it: of which media type, and how it is made of arguments.

An object's properties are arguments of their own; what is no object is one argument. Of several media types the one is
taken that loses nothing and that every server reads alike: JSON first. Deliberately not here: names of arguments
(`plans`), and writing a body (`requests`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from wieldy.connect.rest.documents import Node, UnreadableError
from wieldy.connect.rest.forms import Encoding
from wieldy.connect.rest.meanings import Flat, SchemaReader
from wieldy.connect.rest.reading import object_of, text_of, texts_of

Kind: TypeAlias = Literal["json", "urlencoded", "multipart", "text", "bytes"]

URLENCODED: Final = "application/x-www-form-urlencoded"
MULTIPART: Final = "multipart/form-data"
_MAX_VARIANTS: Final = 200
"""How many meanings one property may have in all alternatives of a body; with more it may be anything."""
_DELIMITERS: Final = {"csv": ",", "ssv": " ", "tsv": "\t", "pipes": "|", "spaceDelimited": " ", "pipeDelimited": "|"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """What is sent.

    Attributes:
        kind: How it is written.
        media_type: As the document names it.
        properties: What it is made of, by name; empty where it is one value.
        required: Names of properties without which it is refused.
        whole: Its schema, where it is one value.
        additional: What further properties may be; True for anything, None for none.
        is_required: Whether a request without it is refused.
        description: In the document's words.
        encodings: How properties of a form are written.
        groups: Where it is one of several objects: the properties of each.
    """

    kind: Kind
    media_type: str
    properties: Mapping[str, Node] = field(default_factory=dict[str, Node])
    required: tuple[str, ...] = ()
    whole: Node | None = None
    additional: Node | bool | None = None
    is_required: bool = False
    description: str = ""
    encodings: Mapping[str, Encoding] = field(default_factory=dict[str, Encoding])
    groups: tuple[tuple[str, ...], ...] = ()


def read_body(node: Node, reader: SchemaReader) -> Body | None:
    """The body that a `requestBody` of version 3 describes; None where it describes none.

    Raises:
        UnreadableError: It cannot be read.
    """
    if node.value is None:
        return None
    node = reader.documents.follow(node)
    content = object_of(node.object.get("content"))
    if not content:
        return None
    media_type = best_of(content)
    media = reader.documents.follow(node.of(content[media_type]))
    return _body(
        media_type,
        media.part("schema"),
        reader,
        encoding=media.part("encoding"),
        is_required=node.object.get("required") is True,
        description=text_of(node.object.get("description")),
    )


def read_body_of_version_2(nodes: list[Node], consumes: list[str], reader: SchemaReader) -> Body | None:
    """The body that parameters of version 2.0 describe.

    Args:
        nodes: Those that are in `body` or in `formData`.
        consumes: Media types that the operation takes.
        reader: Says what schemas mean.
    """
    whole = next((node for node in nodes if text_of(node.object.get("in")).lower() == "body"), None)
    media_types: dict[str, None] = dict.fromkeys(consumes)
    if whole is not None:
        media_type = best_of(media_types) if media_types else "application/json"
        return _body(
            "application/json" if _kind(media_type) in {"urlencoded", "multipart"} else media_type,
            whole.part("schema"),
            reader,
            encoding=whole.of({}),
            is_required=whole.object.get("required") is True,
            description=text_of(whole.object.get("description")),
        )
    if not nodes:
        return None
    properties = {text_of(node.object.get("name")): _field(node) for node in nodes}
    encodings = {name: _encoding_of_field(node) for name, node in zip(properties, nodes, strict=False)}
    has_files = any(encoding.is_file for encoding in encodings.values())
    is_multipart = has_files or (MULTIPART in media_types and URLENCODED not in media_types)
    required = [text_of(node.object.get("name")) for node in nodes if node.object.get("required") is True]
    return Body(
        kind="multipart" if is_multipart else "urlencoded",
        media_type=MULTIPART if is_multipart else URLENCODED,
        properties=properties,
        required=tuple(required),
        is_required=bool(required),
        encodings=encodings,
    )


def _field(node: Node) -> Node:
    value = {name: part for name, part in node.object.items() if name not in {"in", "name", "required"}}
    return node.of(value | ({"type": "string", "format": "binary"} if value.get("type") == "file" else {}))


def _encoding_of_field(node: Node) -> Encoding:
    delimiter = "" if node.object.get("collectionFormat") == "multi" else _DELIMITERS.get(_collection(node), "")
    return Encoding(is_file=node.object.get("type") == "file", delimiter=delimiter)


def _collection(node: Node) -> str:
    return text_of(node.object.get("collectionFormat")) or ("csv" if node.object.get("type") == "array" else "")


def best_of(content: Mapping[str, object]) -> str:
    """The media type that loses least: the first of the best kind."""
    ranks = {name: _rank(name) for name in content}
    return min(ranks, key=lambda name: ranks[name])


def _rank(media_type: str) -> int:
    name = media_type.partition(";")[0].strip().lower()
    if name == "application/json":
        return 0
    if "json-patch" in name:
        return 4
    kinds: dict[Kind, int] = {"json": 1, "urlencoded": 3, "multipart": 2, "text": 5, "bytes": 6}
    return 3 if name == "*/*" else kinds[_kind(media_type)] + (1 if "strategic" in name else 0)


def _kind(media_type: str) -> Kind:
    name = media_type.partition(";")[0].strip().lower()
    if name == URLENCODED:
        return "urlencoded"
    if name.startswith("multipart/"):
        return "multipart"
    if name in {"*/*", "application/*", ""} or name.endswith(("/json", "+json")) or "json" in name:
        return "json"
    if name.startswith("text/") or name.endswith(("/xml", "+xml", "/yaml", "+yaml", "graphql")):
        return "text"
    return "bytes"


def _body(
    media_type: str, schema: Node, reader: SchemaReader, *, encoding: Node, is_required: bool, description: str
) -> Body:
    kind = _kind(media_type)
    media_type = "application/json" if kind == "json" and "*" in media_type else media_type
    meaning = reader.flat(schema)
    shared = Body(kind=kind, media_type=media_type, whole=schema, is_required=is_required, description=description)
    if kind in {"text", "bytes"}:
        return shared
    properties, required, groups = _members(meaning, reader)
    if not properties or (kind == "json" and meaning.keywords.get("type") == "array"):
        if kind != "json" and not meaning.is_object and meaning.keywords.get("type") is not None:
            raise UnreadableError(f"a body of {media_type} is made of properties, and its schema has none")
        if properties or "properties" not in reader.documents.follow(schema).object:
            return shared  # any object, or no object at all
    return Body(
        kind=kind,
        media_type=media_type,
        properties=properties,
        required=tuple(required),
        additional=True if reader.is_cut else meaning.additional,
        is_required=is_required,
        description=description,
        encodings={name: _encoding(encoding.part(name), part, reader) for name, part in properties.items()},
        groups=groups,
    )


def _members(meaning: Flat, reader: SchemaReader) -> tuple[dict[str, Node], list[str], tuple[tuple[str, ...], ...]]:
    """The properties that an object may have, those that it must have, and those of each alternative."""
    branches = [reader.flat(node) for node in meaning.alternatives]
    branches = [branch for branch in branches if branch.keywords.get("type") != "null"]
    if not branches:
        return meaning.properties, [*meaning.required], ()
    if not (meaning.properties or all(branch.properties for branch in branches)):
        return {}, [], ()  # it may be something else than an object
    properties = dict(meaning.properties)
    variants: dict[str, list[Node]] = {}
    for branch in branches:
        for name, node in branch.properties.items():
            known = variants.setdefault(name, [])
            if len(known) <= _MAX_VARIANTS and node not in known:
                known.append(node)
    for name, nodes in variants.items():
        union = nodes[0] if len(nodes) == 1 else nodes[0].of({"anyOf": [node.value for node in nodes]})
        if len({node.base for node in nodes}) == 1 and len(nodes) <= _MAX_VARIANTS:
            properties.setdefault(name, union)
        else:  # they mean different documents, or are very many: anything
            properties.setdefault(name, nodes[0].of({}))
    common = set(branches[0].required).intersection(*(branch.required for branch in branches))
    required = [*meaning.required, *(name for name in branches[0].required if name in common)]
    return (
        properties,
        list(dict.fromkeys(required)),
        tuple(tuple(branch.properties) for branch in branches if branch.properties),
    )


def _encoding(said: Node, schema: Node, reader: SchemaReader) -> Encoding:
    value, meaning = said.object, reader.flat(schema)
    item = reader.flat(meaning.items) if meaning.items else meaning
    style, explode = text_of(value.get("style")), value.get("explode")
    return Encoding(
        content_type=text_of(value.get("contentType")),
        is_deep=style == "deepObject",
        delimiter=_DELIMITERS.get(style, ",") if explode is False else "",
        is_file="string" in texts_of(item.keywords.get("type")) and item.keywords.get("format") == "binary",
    )
