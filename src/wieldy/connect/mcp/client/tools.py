"""A tool as a server describes it, as a tool of ours; and what is to be said about it.

What a server says of its tools are hints of whoever wrote it. They count where the program trusts the server; else a
call is `unsafe` and what it returns is a stranger's words. Pure. Deliberately not here: calling it (`server`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast

from wieldy.connect.mcp.client.port import REFUSED
from wieldy.connect.mcp.names import RULE, offered_name
from wieldy.core.calls import ToolAnnotations, ToolDefinition
from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject, JsonValue, canonical_json, sha256
from wieldy.run.results.invisible import has_hidden, without_invisible
from wieldy.schema import CompiledSchema
from wieldy.schema.rewrite import rewritten, subschemas

if TYPE_CHECKING:
    from wieldy.connect.mcp.config import ServerConfig
    from wieldy.core.calls import Effect, Trust

Provenance: TypeAlias = Literal["declared", "derived", "overridden"]
"""Who says what a call does: a trusted server, nobody (the worst is assumed), or the program."""

NoticeKind: TypeAlias = Literal["left_out", "renamed", "hidden_text", "output_schema", "added", "changed", "removed"]

_MOST_NOTICES: Final = 100
_MOST_OF_A_NAME: Final = 200
_MOST_OF_A_NOTICE: Final = 1000
_WORDS: Final = ("title", "description")


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something that a person should know about a server or its tools.

    Attributes:
        server: As the program calls it; None for the only one.
        tool: As the server calls it; None where it is about the server.
        message: What was found and what became of it.
    """

    kind: NoticeKind
    server: str | None
    tool: str | None
    message: str

    def __str__(self) -> str:
        """In one line and not long, whatever names a server gives."""
        tool = (self.tool or "")[:_MOST_OF_A_NAME]
        place = ", ".join(part for part in (self.server, tool) if part)
        text = (f"{place}: {self.message}" if place else self.message)[:_MOST_OF_A_NOTICE]
        return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class McpTool:
    """A tool of a server.

    Attributes:
        server: As the program calls the server; None for the only one.
        original: The tool's name in the server's words.
        definition: What a model sees.
        effect: What a call does.
        provenance: Who says so.
        trust: Whether strangers may have shaped what it returns.
        output: Its output schema, compiled, if it has one that can be used.
        entry: What the server sent, hidden characters and all.
        digest: SHA-256 over that; the same as long as it is.
    """

    server: str | None
    original: str
    definition: ToolDefinition
    effect: Effect
    provenance: Provenance
    trust: Trust
    output: CompiledSchema | None
    entry: JsonObject
    digest: str

    @property
    def name(self) -> str:
        """The name under which it is offered."""
        return self.definition.name

    @property
    def identity(self) -> tuple[str | None, str]:
        """The same for as long as the same server describes it in the same way."""
        return self.server, self.digest


def read_tools(listed: list[JsonValue], config: ServerConfig) -> tuple[tuple[McpTool, ...], tuple[Notice, ...]]:
    """The tools that can be used, in the server's order, and what is to be said about these and the others."""
    tools: dict[str, McpTool] = {}
    notices: list[Notice] = []
    for entry in listed:
        reading = _Reading(entry, config)
        if config.tools is not None and reading.original not in config.tools:
            continue
        try:
            tool = reading.tool()
        except UsageError as error:
            reading.say("left_out", f"the tool is left out: {error}")
        else:
            if tool.name in tools:
                reading.say("left_out", f"the tool is left out: another one has the name {tool.name!r}")
            tools.setdefault(tool.name, tool)
        notices += reading.notices
    return tuple(tools.values()), (*notices, *_missing(config, listed))


def compared(before: tuple[McpTool, ...], after: tuple[McpTool, ...], *, server: str | None) -> Iterator[Notice]:
    """What has changed in a server's list."""
    old, new = ({tool.original: tool for tool in tools} for tools in (before, after))
    for name in (*old, *(name for name in new if name not in old)):
        if name not in new:
            yield Notice(kind="removed", server=server, tool=name, message="the server has taken the tool away")
        elif name not in old:
            yield Notice(kind="added", server=server, tool=name, message="the server offers the tool since now")
        elif old[name].digest != new[name].digest:
            what = ", ".join(_differences(old[name], new[name]))
            yield Notice(
                kind="changed", server=server, tool=name, message=f"the server describes the tool differently: {what}"
            )


def cut_short(method: str, count: int, *, server: str | None) -> Notice:
    """That a list is longer than what is read of it."""
    message = f"of `{method}` only the first {count} entries are read: it is too long, and the rest is left out"
    return Notice(kind="left_out", server=server, tool=None, message=message)


def few(notices: list[Notice], *, server: str | None) -> list[Notice]:
    """The notices about one list, as many as a person reads, and how many there are more."""
    more = len(notices) - _MOST_NOTICES
    if more <= 0:
        return notices
    last = Notice(kind=notices[-1].kind, server=server, tool=None, message=f"and {more} more of its tools")
    return [*notices[:_MOST_NOTICES], last]


def _differences(old: McpTool, new: McpTool) -> Iterator[str]:
    one, other = old.definition, new.definition
    pairs = {
        "the description": (one.description, other.description),
        "the parameters": (one.input_schema, other.input_schema),
        "what it returns": (one.output_schema, other.output_schema),
        "its hints": (one.annotations, other.annotations),
    }
    found = [what for what, (before, after) in pairs.items() if before != after]
    yield from found or ["what is not shown to a model"]


def _missing(config: ServerConfig, listed: list[JsonValue]) -> Iterator[Notice]:
    known = {str(entry.get("name")) for entry in listed if isinstance(entry, dict)}
    for what, names in (("tools", config.tools or ()), ("effects", tuple(config.effects))):
        for name in names:
            if name not in known:
                message = f"`{what}` names this tool, and the server has none of that name"
                yield Notice(kind="left_out", server=config.name, tool=name, message=message)


class _Reading:
    """One entry of a server's list."""

    def __init__(self, entry: JsonValue, config: ServerConfig) -> None:
        self._entry = cast("JsonObject", entry) if isinstance(entry, dict) else {}
        self._config = config
        self.notices: list[Notice] = []
        name = self._entry.get("name")
        self.original = name if isinstance(name, str) else ""

    def say(self, kind: NoticeKind, message: str) -> None:
        self.notices.append(Notice(kind=kind, server=self._config.name, tool=self.original or None, message=message))

    def tool(self) -> McpTool:
        """The tool.

        Raises:
            UsageError: It cannot be used.
        """
        if not self.original:
            raise UsageError("it has no name")
        if REFUSED in self._entry:
            raise UsageError(str(self._entry[REFUSED]))
        hints = self._hints()
        effect, provenance = self._effect(hints)
        output, output_schema = self._output()
        definition = ToolDefinition(
            name=self._name(),
            description=self._description(),
            input_schema=self._input_schema(),
            output_schema=output_schema,
            annotations=hints,
        )
        return McpTool(
            server=self._config.name,
            original=self.original,
            definition=definition,
            effect=effect,
            provenance=provenance,
            # A trusted server that reaches out to an open world brings back what strangers wrote there.
            trust="trusted" if self._config.is_trusted and hints.open_world is not True else "untrusted",
            output=output,
            entry=self._entry,
            digest=sha256(canonical_json(self._entry)),
        )

    def _name(self) -> str:
        name = offered_name(self._config.name, self.original)
        if name not in (self.original, f"{self._config.name}__{self.original}"):
            self.say("renamed", f"it is offered as {name!r}: {RULE}")
        return name

    def _description(self) -> str:
        found = next((text for key in ("description", "title") if isinstance(text := self._entry.get(key), str)), "")
        if not has_hidden(found):
            return found.strip()
        self.say("hidden_text", "its description holds characters that a person does not see; they are taken out")
        return without_invisible(found).strip()

    def _input_schema(self) -> JsonObject:
        schema = self._entry.get("inputSchema")
        if not isinstance(schema, dict):
            raise UsageError(f"expected an input schema, found {type(schema).__name__}")
        if "type" not in schema:
            schema = {"type": "object", **schema}
        if schema["type"] != "object":
            raise UsageError(f"expected an input schema of an object, found one of {schema['type']!r}")
        CompiledSchema(schema)
        return self._seen(schema)

    def _seen(self, schema: JsonObject) -> JsonObject:
        """The schema without hidden words in what it says about itself."""
        if not any(has_hidden(text) for _, part in subschemas(schema) for text in _said(part)):
            return schema
        self.say("hidden_text", "its schemas are described with characters that a person does not see; taken out")
        return rewritten(schema, _without_hidden)

    def _output(self) -> tuple[CompiledSchema | None, JsonObject | None]:
        schema = self._entry.get("outputSchema")
        if schema is None:
            return None, None
        if not isinstance(schema, dict):
            self.say("output_schema", "what it says of its results is no schema, and is not used")
            return None, None
        try:
            return CompiledSchema(schema), self._seen(schema)
        except UsageError as error:
            self.say("output_schema", f"what it says of its results is not used: {error}")
            return None, None

    def _hints(self) -> ToolAnnotations:
        found = self._entry.get("annotations")
        hints: Mapping[str, JsonValue] = found if isinstance(found, dict) else {}

        def hint(name: str) -> bool | None:
            value = hints.get(name)
            return value if isinstance(value, bool) else None

        return ToolAnnotations(
            read_only=hint("readOnlyHint"),
            destructive=hint("destructiveHint"),
            idempotent=hint("idempotentHint"),
            open_world=hint("openWorldHint"),
        )

    def _effect(self, hints: ToolAnnotations) -> tuple[Effect, Provenance]:
        said = self._config.effects.get(self.original)
        if said is not None:
            return said, "overridden"
        if self._config.is_trusted and hints.read_only is True:
            return "read", "declared"
        if self._config.is_trusted and hints.idempotent is True:
            return "idempotent", "declared"
        return "unsafe", "declared" if self._config.is_trusted and hints.read_only is False else "derived"


def _said(schema: JsonObject) -> Iterator[str]:
    return (text for name in _WORDS if isinstance(text := schema.get(name), str))


def _without_hidden(schema: JsonObject) -> JsonObject:
    words = {name: without_invisible(text) for name in _WORDS if isinstance(text := schema.get(name), str)}
    return schema | words
