"""`@resource`: a typed function becomes a resource, which clients read by its address.

    @resource("notes://{name}", media_type="text/markdown")
    def note(name: str) -> str:
        '''A note.'''
        return Path("notes", name).read_text()

An address with places in braces is a template: what stands in a place becomes the argument of that name. It returns a
text, bytes, or other data, which is shown as JSON. Reading is a call like one of a tool that reads. Law: a place takes
no `/`, `?` or `#`, as it is written in the address; what it stands for is decoded afterwards, so the function has to
check it as any argument. Deliberately not here: who may read it, and how it goes over the wire.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import unquote

from wieldy.connect.serving.blocks import ResourceContent
from wieldy.connect.serving.prompts import Completer, reading_tool
from wieldy.core.errors import UsageError
from wieldy.tools.callables import AnyFunction, default_name
from wieldy.tools.present import Presented

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject, JsonValue
    from wieldy.tools import Tool

TOOL_PREFIX: Final = "resource"
"""Reading the resource `x` is a call of `resource__x` in the journal and for policies."""

_PLACE: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_FILLED: Final = "([^/?#]+)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A resource, or a template of resources.

    Attributes:
        uri: Its address; with places in braces for a template.
        name: For programs.
        title: For people.
        media_type: Of what it returns.
        tool: Reads it; its structured result has the content without an address.
        complete: Values for places, by their names.
    """

    uri: str
    name: str
    title: str | None
    media_type: str | None
    tool: Tool
    complete: Mapping[str, Completer] = field(default_factory=dict[str, Completer])

    @property
    def is_template(self) -> bool:
        """Whether the address has places."""
        return _PLACE.search(self.uri) is not None

    def match(self, uri: str) -> JsonObject | None:
        """The arguments that this address stands for; None if it is another resource's."""
        names = _PLACE.findall(self.uri)
        parts = _PLACE.split(self.uri)[::2]
        found = re.fullmatch(_FILLED.join(map(re.escape, parts)), uri)
        return (
            None if found is None else {name: unquote(text) for name, text in zip(names, found.groups(), strict=True)}
        )

    def described(self) -> JsonObject:
        """As `resources/list` or `resources/templates/list` has it."""
        entry: JsonObject = {"uriTemplate" if self.is_template else "uri": self.uri, "name": self.name}
        if self.title:
            entry["title"] = self.title
        if self.tool.definition.description:
            entry["description"] = self.tool.definition.description
        return entry if self.media_type is None else entry | {"mimeType": self.media_type}


def resource(
    uri: str,
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    media_type: str | None = None,
    complete: Mapping[str, Completer] | None = None,
    permission: str | None = None,
) -> Callable[[AnyFunction], Resource]:
    """Makes a function a resource; used as `@resource("notes://today")` or `@resource("notes://{name}")`.

    Args:
        uri: Its address; each place in braces is a parameter of the function, and there are no others.
        name: For programs; the function's own if left out.
        title: For people.
        description: What it holds; the docstring's prose if left out.
        media_type: Of what the function returns, such as `text/markdown`.
        complete: By the names of places: functions that give values for what was written so far.
        permission: What the caller must be allowed to see and read it.

    Raises:
        ToolSignatureError: The function cannot become a resource as it is written.
        UsageError: The address is none, or its places are not the parameters.
    """
    if not _SCHEME.match(uri):
        raise UsageError(f"Expected the address of a resource with a scheme, such as 'notes://today', found {uri!r}.")

    def make(function: AnyFunction) -> Resource:
        def shown(value: object) -> Presented:
            return _presented(value, media_type)

        called = name or default_name(function)
        made = reading_tool(
            function, shown, prefix=TOOL_PREFIX, name=called, description=description, permission=permission
        )
        _check_places(uri, made, complete or {})
        return Resource(
            uri=uri, name=called, title=title, media_type=media_type, tool=made, complete=dict(complete or {})
        )

    return make


def contents_of(structured: JsonObject, uri: str) -> JsonObject:
    """The result of `resources/read`, from what the tool of a resource gave."""
    items = structured["contents"]
    contents: list[JsonValue] = [{"uri": uri, **item} for item in cast("list[JsonObject]", items)]
    return {"contents": contents}


def _check_places(uri: str, made: Tool, complete: Mapping[str, Completer]) -> None:
    places = _PLACE.findall(uri)
    parameters = [*cast("Mapping[str, Any]", made.definition.input_schema.get("properties") or {})]
    left = _PLACE.sub("", uri)
    if len(set(places)) < len(places) or "{" in left or "}" in left:
        raise UsageError(f"{uri!r}: expected places such as '{{name}}', each once, found something else in braces.")
    if set(places) != set(parameters):
        raise UsageError(
            f"{uri!r}: expected a place for each parameter of the function and no others; the address has "
            f"{', '.join(places) or 'none'}, the function {', '.join(parameters) or 'none'}."
        )
    unknown = [name for name in complete if name not in places]
    if unknown:
        raise UsageError(
            f"{uri!r}: `complete` names {unknown[0]!r}, and the address has {', '.join(places) or 'none'}."
        )


def _presented(value: Any, media_type: str | None) -> Presented:
    items = cast("list[Any]", value) if _is_several(value) else [value]
    contents: list[JsonValue] = []
    texts: list[str] = []
    for item in items:
        wire = _content(item, media_type)
        contents.append(wire)
        text = wire.get("text")
        texts.append(text if isinstance(text, str) else f"[{wire['mimeType']}]")
    return Presented(text="\n".join(texts), structured={"contents": contents})


def _is_several(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(item, ResourceContent) for item in cast("list[Any]", value))


def _content(item: Any, media_type: str | None) -> JsonObject:
    """An item of `contents`; it has an address only if it gives itself one."""
    if isinstance(item, ResourceContent):
        return item.to_wire()
    if not isinstance(item, str | bytes):
        item, media_type = json.dumps(item, ensure_ascii=False, default=_json), media_type or "application/json"
    wire = ResourceContent(uri="", content=item, media_type=media_type).to_wire()
    return {key: said for key, said in wire.items() if key != "uri"}


def _json(value: Any) -> Any:
    from pydantic_core import to_jsonable_python  # noqa: PLC0415 - only for values that are no plain JSON

    return to_jsonable_python(value)
