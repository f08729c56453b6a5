"""Parameters of an operation, as versions 2.0 and 3 describe them: where each goes and how it is written.

What a document says wrongly is read as what is usual there. Deliberately not here: their schemas (`schemas`), and
writing them (`styles`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast, get_args

from wieldy.connect.rest.documents import Documents, Node, UnreadableError
from wieldy.connect.rest.reading import list_of, object_of, text_of
from wieldy.connect.rest.styles import Style, Writing
from wieldy.core.json import JsonObject

Place: TypeAlias = Literal["path", "query", "header", "cookie"]

_DEFAULT_STYLES: Final[dict[Place, Style]] = {
    "path": "simple",
    "query": "form",
    "header": "simple",
    "cookie": "form",
}
_COLLECTIONS: Final[dict[str, Style]] = {"ssv": "spaceDelimited", "tsv": "tabDelimited", "pipes": "pipeDelimited"}
_OF_THE_CLIENT: Final = frozenset(
    {"accept", "content-type", "authorization", "host", "content-length", "transfer-encoding", "connection", "cookie"}
)
"""Headers that are no parameters: the specification names the first three, the others belong to the protocol."""
_KEY: Final = re.compile(r"(x[-_])?idempoten(cy|ce)[-_]?(key|token|id)", re.IGNORECASE)
_PLACES_IN_PATH: Final = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter.

    Attributes:
        place: Where it goes.
        writing: How it is written; its name on the wire is there.
        schema: What it may be.
        description: In the document's words.
        is_required: Whether a call without it is refused.
    """

    place: Place
    writing: Writing
    schema: Node
    description: str
    is_required: bool

    @property
    def name(self) -> str:
        """On the wire."""
        return self.writing.name

    @property
    def identity(self) -> tuple[str, str]:
        """Its place and its name there, of a header in small letters."""
        return self.place, self.name.lower() if self.place == "header" else self.name

    @property
    def is_idempotency_key(self) -> bool:
        """Whether it is the header by which the service knows a call that is repeated."""
        return self.place == "header" and _KEY.fullmatch(self.name) is not None


def read_parameters(path: str, nodes: Iterable[Node], documents: Documents) -> list[Parameter]:
    """The parameters that are not of a body, in order; those that come later replace earlier ones of the same name.

    Args:
        path: With places in braces: each is a parameter, also where the document forgets to say so.
        nodes: Those of the path first.
        documents: Where references lead.

    Raises:
        UnreadableError: One of them cannot be read, so that a request could not be right.
    """
    found: dict[tuple[str, str], Parameter] = {}
    in_path = _PLACES_IN_PATH.findall(path)
    for node in nodes:
        parameter = _parameter(documents.follow(node))
        if parameter is None or (parameter.place == "path" and parameter.name not in in_path):
            continue
        found[parameter.identity] = parameter
    for name in in_path:
        if ("path", name) not in found:
            found["path", name] = _forgotten(name)
    return list(found.values())


def _parameter(node: Node) -> Parameter | None:
    value = node.object
    place, name = text_of(value.get("in")).lower(), value.get("name")
    if place in {"body", "formdata"}:
        return None
    if not isinstance(name, str) or not name or place not in get_args(Place):
        raise UnreadableError(f"a parameter must have a name and a place, found name {name!r}, in {value.get('in')!r}")
    place = cast("Place", place)
    if place == "header" and name.lower() in _OF_THE_CLIENT:
        return None
    content = object_of(value.get("content"))
    schema = node.part("schema") if "schema" in value else node
    if content and "schema" not in value:
        schema = node.of(next(iter(content.values()))).part("schema")
    elif "schema" not in value:
        schema = node.of({key: part for key, part in value.items() if key not in {"required", "description"}})
    return Parameter(
        place=place,
        writing=_writing(name, place, value, is_json=bool(content) and "schema" not in value),
        schema=schema,
        description=text_of(value.get("description")),
        is_required=place == "path" or value.get("required") is True,
    )


def _writing(name: str, place: Place, said: JsonObject, *, is_json: bool) -> Writing:
    reserved = said.get("allowReserved") is True or (place == "path" and said.get("x-multi-segment") is True)
    if is_json:
        return Writing(name=name, style="json", explode=False)
    collection = text_of(said.get("collectionFormat"))
    if collection or _is_of_version_2(said):
        style = _COLLECTIONS.get(collection, _DEFAULT_STYLES[place])
        return Writing(name=name, style=style, explode=collection == "multi")
    style = text_of(said.get("style")) or _DEFAULT_STYLES[place]
    if style not in get_args(Style):
        style = _DEFAULT_STYLES[place]
    explode = said.get("explode")
    return Writing(
        name=name,
        style=cast("Style", style),
        explode=explode if isinstance(explode, bool) else style in {"form", "deepObject"},
        allows_reserved=reserved,
    )


def _is_of_version_2(said: JsonObject) -> bool:
    return "type" in said and "schema" not in said


def _forgotten(name: str) -> Parameter:
    return Parameter(
        place="path",
        writing=Writing(name=name, style="simple", explode=False),
        schema=Node(value={"type": "string"}, base=""),
        description="",
        is_required=True,
    )


def of_body(nodes: Iterable[Node], documents: Documents) -> list[Node]:
    """The parameters of version 2.0 that are a body or fields of a form."""
    followed = [documents.follow(node) for node in nodes]
    return [node for node in followed if text_of(node.object.get("in")).lower() in {"body", "formdata"}]


def parameter_nodes(*holders: Node) -> list[Node]:
    """What stands under `parameters`, of several holders one after the other."""
    return [holder.of(each) for holder in holders for each in list_of(holder.object.get("parameters"))]
