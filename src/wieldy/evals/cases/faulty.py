"""A model that makes mistakes: what another one says, with faults put in by a seed.

It tries the harness without a model: how much of what models and providers get wrong is told to them so that they can
repair it, and whose failure the rest is said to be. After a fault the model underneath is asked as if there had been
none, so it must answer from the history alone, as scripted models of tasks do. Law: which faults are put in where is a
function of the seed and of how many replies there were before. Deliberately not here: judging (`attribution`).
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast, get_args

from wieldy.core.calls import InvalidToolCall, ToolCall
from wieldy.core.errors import ProviderError
from wieldy.core.limits import Usage
from wieldy.core.messages import Message, Part, read_call
from wieldy.core.ports import ModelReply, ModelRequest
from wieldy.evals.verdicts.calls_seen import parts_of
from wieldy.run.journal import kinds
from wieldy.testing.scripted import deltas_of

if TYPE_CHECKING:
    from wieldy.core.ports import Entry, Model, ModelEvent

Fault: TypeAlias = Literal["malformed", "unknown-tool", "wrong-types", "repeated", "empty", "provider"]
"""A call that cannot be read, of a tool that there is not, or with values of other types; the same call twice in one
reply; a reply without anything; an error of the provider instead of a reply."""

FAULTS: Final[tuple[Fault, ...]] = get_args(Fault)

_PREFIX: Final = "fault-"
_NO_SERVICE: Final = "HTTP 503: put in by script:faulty"


class FaultyModel:
    """What another model says, with faults.

    Args:
        model: Asked as if nothing had gone wrong; it must answer from the history alone.
        seed: Decides which faults are put in where.
        faults: Those that are.
        rate: How often, of 1.
        most: Of faults in one run, so that it comes to an end.
    """

    def __init__(
        self, model: Model, *, seed: object = 0, faults: Sequence[Fault] = FAULTS, rate: float = 0.5, most: int = 3
    ) -> None:
        self._model = model
        self._seed, self._faults, self._rate, self._most = seed, tuple(faults), rate, most

    @property
    def name(self) -> str:
        """What it is called in records."""
        return "script:faulty"

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """What the model says, or a fault in its place.

        Raises:
            ProviderError: That is the fault.
            ModelError: The model could not answer.
        """
        right = await self._asked(replace(request, messages=_without_faults(request.messages)))
        fault = self._fault(request.messages)
        calls = [part for part in right.message.parts if isinstance(part, ToolCall)]
        if fault == "provider":
            raise ProviderError(_NO_SERVICE)
        reply = right
        if fault == "empty":
            reply = replace(right, message=Message.assistant(), usage=Usage(requests=1))
        elif fault is not None and calls:
            id = f"{_PREFIX}{fault}-{len(request.messages)}"  # noqa: A001 - the wire's word
            parts = _PUT_IN[fault](right.message.parts, calls[0], id)
            reply = replace(right, message=replace(right.message, parts=parts))
        for delta in deltas_of(reply.message):
            yield delta
        yield reply

    async def _asked(self, request: ModelRequest) -> ModelReply:
        events = [event async for event in self._model.stream(request)]
        return cast("ModelReply", events[-1])  # a model's last event is its reply

    def _fault(self, messages: Sequence[Message]) -> Fault | None:
        made = sum((each.provider_id or "").startswith(_PREFIX) for message in messages for each in message.calls)
        chance = random.Random(f"{self._seed}/{sum(message.role == 'assistant' for message in messages)}")
        fault = chance.choice(self._faults)
        return fault if made < self._most and chance.random() < self._rate else None


def with_faulty(scripts: Mapping[str, Callable[[], Model]], *, seed: object) -> Mapping[str, Callable[[], Model]]:
    """The scripts of a task, and `faulty`, which makes mistakes where its `oracle` does right."""
    oracle = scripts.get("oracle")
    if oracle is None or "faulty" in scripts:
        return scripts
    return {**scripts, "faulty": lambda: FaultyModel(oracle(), seed=seed)}


def faults_put_in(entries: Sequence[Entry]) -> list[str]:
    """The faults that a run's entries tell of, in order; an empty reply says nothing, and is not told of."""
    found = list[str]()
    for entry in entries:
        if entry.kind == kinds.REPLY:
            ids = [str(part.get("provider_id") or "") for part in parts_of(entry) if part["type"].endswith("call")]
            found += [each[len(_PREFIX) :].rpartition("-")[0] for each in ids if each.startswith(_PREFIX)]
        elif entry.kind == kinds.RUN_FAILED and _NO_SERVICE in str(entry.data.get("message")):
            found.append("provider")
    return found


def _without_faults(messages: Sequence[Message]) -> list[Message]:
    faulty = {each.id for message in messages for each in message.calls if (each.provider_id or "").startswith(_PREFIX)}
    kept = list[Message]()
    for message in messages:
        if message.role == "tool" and message.result is not None and message.result.tool_call_id in faulty:
            continue
        parts = tuple(
            part for part in message.parts if not (isinstance(part, ToolCall | InvalidToolCall) and part.id in faulty)
        )
        if len(parts) == len(message.parts):
            kept.append(message)
        elif parts:
            kept.append(replace(message, parts=parts))
    return kept


# Each puts one fault in the place of the first call; the model makes the others when it is asked again.


def _malformed(parts: Sequence[Part], call: ToolCall, id: str) -> tuple[Part, ...]:  # noqa: A002
    return (read_call(call_id=id, name=call.name, arguments='{"arguments": [', provider_id=id),)


def _unknown_tool(parts: Sequence[Part], call: ToolCall, id: str) -> tuple[Part, ...]:  # noqa: A002
    return (replace(call, id=id, provider_id=id, name=f"{call.name[:50]}_v2"),)


def _wrong_types(parts: Sequence[Part], call: ToolCall, id: str) -> tuple[Part, ...]:  # noqa: A002
    wrong: dict[str, Any] = {name: {"value": [value]} for name, value in call.arguments.items()}
    return (replace(call, id=id, provider_id=id, arguments=wrong or {"value": [1]}),)


def _repeated(parts: Sequence[Part], call: ToolCall, id: str) -> tuple[Part, ...]:  # noqa: A002
    return (*parts, replace(call, id=id, provider_id=id))


_PUT_IN: Final[Mapping[str, Callable[[Sequence[Part], ToolCall, str], tuple[Part, ...]]]] = {
    "malformed": _malformed,
    "unknown-tool": _unknown_tool,
    "wrong-types": _wrong_types,
    "repeated": _repeated,
}
