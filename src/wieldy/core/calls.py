"""What a tool looks like to a model, what a model asks for, and what it is told.

`ToolDefinition` -> (model) -> `ToolCall` or `InvalidToolCall` -> (pipeline) -> `ToolResult`.
Law: every call that a model emits, valid or not, is answered by exactly one result that carries its id.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from wieldy.core.errors import FailureLayer
from wieldy.core.influence import Influence, Sources
from wieldy.core.json import JsonObject, JsonValue, canonical_json
from wieldy.core.media import FilePart, ImagePart
from wieldy.core.record import Record

Effect: TypeAlias = Literal["read", "idempotent", "keyed", "reconcile", "unsafe"]
"""What a call does to the world, and so whether it may be repeated.

`read` changes nothing; `idempotent` may be repeated; `keyed` is exactly-once when given the same idempotency key;
`reconcile` can be asked afterwards whether it happened; `unsafe` must never be repeated blindly.
"""

Risk: TypeAlias = Literal["low", "medium", "high"]
"""How much harm a wrong call can do, in the judgement of the tool's author."""

Trust: TypeAlias = Literal["trusted", "untrusted"]
"""Whether strangers may have shaped a result. What a model reads from an untrusted source may be an attack on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnnotations:
    """Hints about a tool in MCP's words; None where nothing was declared."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    """What the model sees of a tool.

    Attributes:
        name: 1 to 64 of `A-Za-z0-9_-`, the strictest rule among providers.
        description: What it does, in the words of its author.
        input_schema: JSON Schema (2020-12) of an object: the arguments.
        output_schema: JSON Schema of the structured result, if it has one.
        annotations: Hints in MCP's words.
        examples: Arguments of good calls; each fits `input_schema`.
        use_when: When this tool is the right one.
        avoid_when: When another one is.
    """

    name: str
    description: str
    input_schema: JsonObject
    output_schema: JsonObject | None = None
    annotations: ToolAnnotations = field(default_factory=ToolAnnotations)
    examples: tuple[JsonObject, ...] = ()
    use_when: str | None = None
    avoid_when: str | None = None

    @property
    def prompt_description(self) -> str:
        """Description, `use_when`, `avoid_when` and examples as one text, for formats that carry only one."""
        lines = [self.description]
        if self.use_when:
            lines.append(f"Use when: {self.use_when}")
        if self.avoid_when:
            lines.append(f"Avoid when: {self.avoid_when}")
        lines += [f"Example arguments: {canonical_json(example)}" for example in self.examples]
        return "\n".join(line for line in lines if line)


class ToolCall(Record, frozen=True, kw_only=True):
    """A request of the model to run a tool.

    Attributes:
        id: Ours: unique within the run. What the provider called it is `provider_id`.
        name: The tool's name as the model wrote it.
        arguments: Parsed, not yet validated.
        provider_id: The id on the wire, which may be missing or used twice.
        forced: JSON pointers to arguments that the token budget decided, not the model; that of all of them is "".
        influence: Which untrusted sources had a part in what of it, where that is known exactly, as of tracked code;
            None where all that was read before may have shaped all of it.
    """

    id: str
    name: str
    arguments: JsonObject
    provider_id: str | None = None
    forced: tuple[str, ...] = ()
    influence: Influence | None = None


class InvalidToolCall(Record, frozen=True, kw_only=True):
    """Text in which a call was meant but could not be read; never executable, always answered.

    Attributes:
        text: What the model wrote, unchanged.
        error: What was expected and what was found, for the model.
        influence: As in `ToolCall`.
    """

    id: str
    name: str | None
    text: str
    error: str
    provider_id: str | None = None
    influence: Influence | None = None


AnyCall: TypeAlias = ToolCall | InvalidToolCall


class ToolResult(Record, frozen=True, kw_only=True):
    """The one answer to a call.

    Attributes:
        content: What the model reads.
        structured_content: The same as JSON, where the tool gave JSON.
        parts: Images and files that belong to it.
        is_error: Whether the call failed; `content` then says what to do.
        layer: Whose failure it was: None if it was none.
        source: Whose words these are: a tool's name, or what the tool says it read; None for the runtime's own words.
        trust: Whether strangers may have shaped them.
        tainted_by: The untrusted sources that had a part in them, where more is known than `source` says.
        handle: By which the rest can be read, where `content` shows only the beginning and the end.
        failure: What kind of failure it is, for code that made the call; None where nobody but a model reads it.
    """

    tool_call_id: str
    content: str
    structured_content: JsonValue = None
    parts: tuple[ImagePart | FilePart, ...] = ()
    is_error: bool = False
    layer: FailureLayer | None = None
    source: str | None = None
    trust: Trust = "trusted"
    tainted_by: Sources = ()
    handle: str | None = None
    failure: str | None = None

    @property
    def untrusted_sources(self) -> Sources:
        """The untrusted sources that whoever reads it has read; the call's id where nobody said whose words it is."""
        if self.trust == "trusted":
            return ()
        return self.tainted_by or (self.source or self.tool_call_id,)


class ToolChoice(Record, frozen=True, kw_only=True):
    """Whether the model may, must or must not call: `name` is set exactly when `mode` is "tool"."""

    mode: Literal["auto", "none", "required", "tool"] = "auto"
    name: str | None = None


AUTO = ToolChoice()
NO_TOOLS = ToolChoice(mode="none")
