"""Models behind Anthropic's Messages API.

The request half of that protocol; `anthropic_answer` is the other half and `http` carries both. Thinking is sent back
with its signature, results of one turn travel in one user message, in the order of their calls and with their images
and PDFs. Deliberately not here: tools that run at the provider, batches, files that are kept there.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from wieldy.connect.models.anthropic_answer import REDACTED, MessageAssembly
from wieldy.connect.models.attached import Attachment, is_pdf, sent_with
from wieldy.connect.models.backends import backend_named
from wieldy.connect.models.failures import ServerFacts
from wieldy.connect.models.http import HttpServer
from wieldy.connect.models.identifiers import SHORT_ID, chosen_tool, ids_in, wire_arguments, wire_ids, wire_name
from wieldy.connect.models.retries import Retries, Timeouts
from wieldy.connect.models.served import ServedModel
from wieldy.connect.models.settings import checked_key, checked_options, parse_address
from wieldy.core.calls import AnyCall, ToolDefinition, ToolResult
from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject, JsonValue
from wieldy.core.media import FilePart, ImagePart
from wieldy.core.messages import Message, Part, ReasoningPart, TextPart
from wieldy.core.ports import ModelEvent, ModelRequest

ANTHROPIC_URL = "https://api.anthropic.com"
API_VERSION = "2026-10-21"
DEFAULT_MAX_OUTPUT_TOKENS = 16_384
"""The API demands a limit for every answer; this one is well below that of every current model."""
RESERVED_OPTIONS = ("model", "messages", "system", "tools", "tool_choice", "stream", "max_tokens")
"""Fields of a request that this module decides."""


class AnthropicModel(ServedModel):
    """A model behind the Messages API. `async with` keeps its connections open between requests."""

    def __init__(  # noqa: PLR0913  each is one setting, given by name
        self,
        model: str,
        *,
        base_url: str = ANTHROPIC_URL,
        api_key: str | None = None,
        name: str | None = None,
        max_output_tokens: int = DEFAULT_MAX_OUTPUT_TOKENS,
        options: Mapping[str, JsonValue] | None = None,
        timeouts: Timeouts = Timeouts(),  # noqa: B008 (a frozen record)
        retries: Retries = Retries(),  # noqa: B008
        backend: str = "anthropic",
        constrained: bool = True,
    ) -> None:
        """Nothing is sent before the first request.

        Args:
            model: The model's name at the provider.
            base_url: The address before `/v1`.
            api_key: Sent as a bearer token, as this version of the API has it; None: none is sent.
            name: What this model is called in records; made from the other arguments if left out.
            max_output_tokens: The limit of an answer where the request sets none.
            options: More fields of every request: `thinking`, `cache_control`.
            timeouts: How long to wait for the server.
            retries: How to try again.
            backend: `anthropic`, or `tool_calls` for models and servers without structured outputs.
            constrained: Whether outputs and tools are enforced; if not, they are only asked for.

        Raises:
            UsageError: An argument cannot be used.
        """
        address = parse_address(base_url.rstrip("/").removesuffix("/v1"))
        key = checked_key(api_key)
        self._model = model
        self._max_output_tokens = max_output_tokens
        server = HttpServer(
            address=address,
            facts=ServerFacts(
                address=address.shown, key_help="Set ANTHROPIC_API_KEY to a valid key.", model=model, secret=key
            ),
            headers={"anthropic-version": API_VERSION, **({"authorization": f"Bearer {key}"} if key else {})},
            timeouts=timeouts,
            retries=retries,
        )
        super().__init__(
            name=name or f"anthropic:{model}",
            server=server,
            options=checked_options(options, reserved=RESERVED_OPTIONS),
            backend=backend_named(backend, among=("anthropic", "tool_calls")).name,
            constrained=constrained,
        )

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Deltas as they come, then exactly one `ModelReply`.

        Raises:
            ModelError: The model could not answer.
        """

        def write(sent: ModelRequest, strict: frozenset[str]) -> JsonObject:
            return request_body(
                sent,
                model=self._model,
                max_output_tokens=self._max_output_tokens,
                options=self._options_of(request),
                strict=strict,
            )

        begin = partial(MessageAssembly, self._server.facts, taken_ids=ids_in(request.messages))
        async with aclosing(self._converse(request, "/v1/messages", write=write, begin=begin)) as events:
            async for event in events:
                yield event


def request_body(
    request: ModelRequest,
    *,
    model: str,
    max_output_tokens: int,
    options: Mapping[str, JsonValue],
    strict: frozenset[str] = frozenset(),
) -> JsonObject:
    """The JSON of a streaming Messages request; `strict` names the tools that are sent as strict.

    Raises:
        UsageError: An image or the tool choice cannot be sent.
    """
    system, messages = _split_system(request.messages)
    limit = request.max_output_tokens
    ids = wire_ids(request.messages, pattern=SHORT_ID)
    writer = _BlockWriter(ids=ids, order={call_id: place for place, call_id in enumerate(ids)})
    body: JsonObject = {
        **options,
        "model": model,
        "max_tokens": max_output_tokens if limit is None else limit,
        "messages": list(writer.write(messages)),
        "stream": True,
    }
    if system:
        body["system"] = system
    if request.tools:
        body["tools"] = [_tool(tool, is_strict=tool.name in strict) for tool in request.tools]
        if request.tool_choice.mode != "auto" or not request.parallel_calls:
            body["tool_choice"] = _tool_choice(request)
    if request.stop:
        body.setdefault("stop_sequences", list(request.stop))
    return body


@dataclass(frozen=True, slots=True, kw_only=True)
class _BlockWriter:
    ids: Mapping[str, str]
    order: Mapping[str, int]

    def write(self, messages: Iterable[Message]) -> Iterator[JsonObject]:
        """Messages of the wire: neighbours that have one role there become one, empty ones are left out."""
        for role, group in groupby(messages, key=_wire_role):
            blocks = list(self._blocks(list(group)))
            if blocks:
                yield {"role": role, "content": blocks}

    def _blocks(self, messages: Sequence[Message]) -> Iterator[JsonValue]:
        for is_result, group in groupby(messages, key=lambda message: message.role == "tool"):
            if is_result:
                results = [message.result for message in group if message.result is not None]
                yield from (self._result(result) for result in sorted(results, key=self._order_of))
            else:
                parts = [part for message in group for part in message.parts]
                yield from (block for part in parts if (block := self._block(part)) is not None)

    def _order_of(self, result: ToolResult) -> int:
        return self.order.get(result.tool_call_id, len(self.order))

    def _block(self, part: Part) -> JsonObject | None:
        match part:
            case TextPart(text=text):
                # Blank blocks are refused.
                return {"type": "text", "text": text} if text.strip() else None
            case ReasoningPart():
                return _thinking(part)
            case ImagePart() | FilePart():
                return _attached(part)
            case ToolResult():
                return self._result(part)
            case _:
                return self._call(part)

    def _call(self, call: AnyCall) -> JsonObject:
        return {
            "type": "tool_use",
            "id": self.ids[call.id],
            "name": wire_name(call.name),
            "input": wire_arguments(call),
        }

    def _result(self, result: ToolResult) -> JsonObject:
        # The result of a failed call may hold text only.
        text, parts = sent_with(result, _takes if not result.is_error else _takes_nothing)
        content: list[JsonValue] = [{"type": "text", "text": text}] if text.strip() else []
        content += [_attached(part) for part in parts]
        block: JsonObject = {
            "type": "tool_result",
            "tool_use_id": self.ids.get(result.tool_call_id, result.tool_call_id),
            "content": content if parts else text,
        }
        return {**block, "is_error": True} if result.is_error else block


def _split_system(messages: Sequence[Message]) -> tuple[str, Sequence[Message]]:
    """The text of the system messages at the start, and the rest."""
    count = next((index for index, message in enumerate(messages) if message.role != "system"), len(messages))
    return "\n\n".join(message.text for message in messages[:count] if message.text.strip()), messages[count:]


def _wire_role(message: Message) -> str:
    return "user" if message.role == "tool" else message.role


def _thinking(part: ReasoningPart) -> JsonObject | None:
    if part.signature is None:
        return None  # thoughts of another provider: without a signature they are refused
    if part.signature.startswith(REDACTED):
        return {"type": "redacted_thinking", "data": part.signature.removeprefix(REDACTED)}
    return {"type": "thinking", "thinking": part.text, "signature": part.signature}


def _takes(part: Attachment) -> bool:
    return part.is_common if isinstance(part, ImagePart) else is_pdf(part, by_address=True)


def _takes_nothing(part: Attachment) -> bool:
    del part
    return False


def _attached(part: Attachment) -> JsonObject:
    return _document(part) if isinstance(part, FilePart) else {"type": "image", "source": _image_source(part.url)}


def _document(part: FilePart) -> JsonObject:
    words = part.plain_text
    if words is not None:
        source: JsonObject = {"type": "text", "media_type": "text/plain", "data": words}
    elif not is_pdf(part, by_address=True):
        raise UsageError(
            f"Expected files of text, and PDFs as data:application/pdf;base64,DATA or as an address; found "
            f"{part.name!r} ({part.media_type}). Files of other kinds are not taken by this provider."
        )
    elif part.url.startswith("data:"):
        source = {"type": "base64", "media_type": "application/pdf", "data": part.url.partition(",")[2]}
    else:
        source = {"type": "url", "url": part.url}
    return {"type": "document", "source": source, "title": part.name}


def _image_source(url: str) -> JsonObject:
    if not url.startswith("data:"):
        return {"type": "url", "url": url}
    kind, mark, data = url.removeprefix("data:").partition(";base64,")
    if not mark or not kind.startswith("image/") or not data:
        raise UsageError(
            f"Expected an image as data:image/TYPE;base64,DATA or as an address, found {url[:60]!r}. "
            "Other encodings of a data URL are not taken by this provider."
        )
    return {"type": "base64", "media_type": kind.partition(";")[0], "data": data}


def _tool(definition: ToolDefinition, *, is_strict: bool) -> JsonObject:
    tool: JsonObject = {
        "name": definition.name,
        "description": definition.prompt_description,
        "input_schema": definition.input_schema,
    }
    return {**tool, "strict": True} if is_strict else tool


def _tool_choice(request: ModelRequest) -> JsonObject:
    choice = request.tool_choice
    if choice.mode == "none":
        return {"type": "none"}
    alone: JsonObject = {} if request.parallel_calls else {"disable_parallel_tool_use": True}
    if choice.mode == "tool":
        return {"type": "tool", "name": chosen_tool(choice, request.tools), **alone}
    return {"type": "auto" if choice.mode == "auto" else "any", **alone}
