"""Handles: what strangers may have shaped reaches code as something that it can pass on and cannot look into.

The values stay here; code has their names. A handle, or a part of one, may stand anywhere in the arguments of a call or
in what code returns, and the host puts the value in. What such a call brings is behind a handle too, and so is its
failure: whatever code does without `reveal` is the same whatever strangers say. `reveal` gives the value, and from
then on they had a part in all that the code does. On its way here a handle is an object of one key that is drawn anew
for each interpreter, so that what strangers wrote is never taken for one.

Laws: without `reveal`, nothing that the sandbox is told depends on a value behind a handle. JSON that code has not got
from a handle goes through unchanged, whatever its keys are.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

from msgspec.structs import asdict, replace

from wieldy.core.influence import Influence, Sources, joined
from wieldy.core.record import Record
from wieldy.run.actions.code.labels import LabelledCall, LabelledFailure, LabelledOutcome, LabelledReply
from wieldy.run.policy.paths import render_path
from wieldy.sandbox import Failure, GuestCall, Outcome, Reply
from wieldy.tools import tool

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject, JsonValue
    from wieldy.run.actions.code.interpreter import Interpreter

REVEAL: Final = "reveal"
MAX_BATCH_BYTES: Final = 16_000_000
"""Of all values that are put into the calls that code makes at once, as JSON."""

_PRELUDE: Final = """
def _wieldy_refuse(self, *given, **named):
    raise TypeError(
        "a handle cannot be looked into: pass it to a tool as it is, or a part of it, such as handle.name or "
        "handle[0]. `await reveal(handle)` gives its value, and all that this code does then counts as a stranger's."
    )
class _wieldy_Handle:
    __qualname__ = __name__ = "Handle"
    __slots__ = ("_wieldy_at",)
    def __init__(self, at):
        object.__setattr__(self, "_wieldy_at", at)
    def _wieldy_json(self):
        return {"$MARK": self._wieldy_at}
    def __repr__(self):
        return "<a handle>"
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _wieldy_Handle([*self._wieldy_at, name])
    def __getitem__(self, key):
        if type(key) not in (str, int):
            raise TypeError("a part of a handle is named by a text or a whole number")
        return _wieldy_Handle([*self._wieldy_at, key])
for _wieldy_name in (
    "str format len iter next reversed contains bool int float complex index hash eq ne lt le gt ge add radd sub rsub "
    "mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow and rand or ror xor rxor lshift rshift neg pos abs "
    "invert round call setattr setitem delitem delattr enter exit await aiter anext bytes"
).split():
    setattr(_wieldy_Handle, f"__{_wieldy_name}__", _wieldy_refuse)
def _wieldy_result(reply):
    return _wieldy_Handle([reply["handle"]]) if "handle" in reply else _wieldy_data(reply["value"])
def call(name, arguments=None):
    return asyncio.ensure_future(_wieldy_opened(name, arguments))
async def _wieldy_opened(name, arguments):
    return _wieldy_result(await _wieldy_call(name, arguments))
def call_sync(name, arguments=None):
    return _wieldy_result(_wieldy_call_sync(name, arguments))
"""
"""Runs after the text of `prelude`; the key of handles stands in the place of `$MARK`."""


@tool(name=REVEAL, effect="read")
def reveal_tool(value: Any) -> Any:
    """The value behind a handle, or behind those within a list or an object.

    From then on strangers had a part in all that your code does, and rules may forbid it things for that.

    Args:
        value: The handle.
    """
    return value


class _Held(Record, frozen=True, kw_only=True):
    """What is behind a handle."""

    value: JsonValue
    failure: Failure | None
    tainted_by: Sources


class _Asked(Record, frozen=True, kw_only=True):
    """A call of the code, with the values put in.

    Attributes:
        tainted_by: Those of the handles in it.
        failure: What its answer is instead, where a failure is revealed.
    """

    call: LabelledCall
    tainted_by: Sources
    failure: Failure | None = None


class HandleInterpreter:
    """Around an interpreter, from which it keeps what strangers may have shaped.

    Args:
        inner: Runs the code.

    Attributes:
        mark: The key of handles in what code sends; nobody can guess it.
    """

    def __init__(self, inner: Interpreter) -> None:
        self._inner = inner
        self.mark: Final = f"$wieldy_handle_{secrets.token_hex(16)}"
        self._held: dict[str, _Held] = {}
        self._revealed: Sources = ()
        self._asked: tuple[_Asked, ...] = ()

    async def run(self, code: str, *, prelude: str, seed: int, clock: float, fresh: bool) -> Outcome:
        """As every interpreter does it."""
        if fresh:
            self._held.clear()
            self._revealed = ()
        handles = _PRELUDE.replace("$MARK", self.mark)
        outcome = await self._inner.run(code, prelude=f"{prelude}{handles}", seed=seed, clock=clock, fresh=fresh)
        return self._taken(outcome)

    async def answer(self, answers: Sequence[Reply | Failure]) -> Outcome:
        """As every interpreter does it."""
        told = [self._told(asked, answer) for asked, answer in zip(self._asked, answers, strict=True)]
        return self._taken(await self._inner.answer(told))

    def _told(self, asked: _Asked, answer: Reply | Failure) -> Reply | Failure:
        said = answer.tainted_by if isinstance(answer, LabelledReply | LabelledFailure) else ()
        if asked.call.name == REVEAL and asked.tainted_by:
            self._revealed = joined(self._revealed, asked.tainted_by)
            return asked.failure or _open(answer)
        sources = joined(asked.tainted_by, said)
        if not sources:
            return _open(answer)
        name = f"h{len(self._held) + 1}"
        failure = answer if isinstance(answer, Failure) else None
        value = answer.value if isinstance(answer, Reply) else None
        self._held[name] = _Held(value=value, failure=failure, tainted_by=sources)
        return Reply(value={"handle": name})

    def _taken(self, outcome: Outcome) -> Outcome:
        room = _Room()
        if outcome.waiting:
            self._asked = tuple(self._with_values(call, room) for call in outcome.waiting)
            return replace(outcome, waiting=tuple(asked.call for asked in self._asked))
        filling = _Filling(self._held, self.mark, room)
        value = filling.filled(outcome.value, ())
        if filling.error is not None:
            value = None
        shown = filling.error if filling.error is not None else outcome.value_repr
        tainted_by = joined(self._revealed, *filling.found.values())
        said: dict[str, Any] = asdict(outcome) | {"value": value, "value_repr": shown}
        return LabelledOutcome(**said, tainted_by=tainted_by)

    def _with_values(self, call: GuestCall, room: _Room) -> _Asked:
        filling = _Filling(self._held, self.mark, room)
        arguments: JsonObject = {name: filling.filled(value, (name,)) for name, value in call.arguments.items()}
        influence = Influence(arguments=filling.found).with_all(self._revealed)
        error = None if filling.error is None else f"The arguments of `{call.name}` do not fit: {filling.error}."
        return _Asked(
            call=LabelledCall(seq=call.seq, name=call.name, arguments=arguments, influence=influence, error=error),
            tainted_by=joined(*filling.found.values()),
            failure=filling.failure,
        )


class _Room:
    """How much may be put in for all calls of a batch: a few letters of code may name a large value many times."""

    def __init__(self) -> None:
        self._left = MAX_BATCH_BYTES
        self._sizes: dict[str, int] = {}

    def takes(self, value: JsonValue, name: str) -> bool:
        """Whether there is room for the value, which is then used; the same name means the same value."""
        if name not in self._sizes:
            self._sizes[name] = len(json.dumps(value))
        self._left -= self._sizes[name]
        return self._left >= 0


@dataclass(slots=True)
class _Filling:
    """Puts values in where handles stand.

    Attributes:
        found: By the paths where handles stood, whose data is there now.
        error: Why a value could not be put in, where one could not.
        failure: What is behind a handle that holds no value.
    """

    held: Mapping[str, _Held]
    mark: str
    room: _Room
    found: dict[str, Sources] = field(default_factory=dict[str, Sources])
    error: str | None = None
    failure: Failure | None = None

    def filled(self, value: JsonValue, path: tuple[str, ...]) -> JsonValue:
        """The value, with values in place of handles."""
        if isinstance(value, list):
            return [self.filled(item, (*path, str(place))) for place, item in enumerate(value)]
        if not isinstance(value, dict):
            return value
        if value.keys() == {self.mark}:
            return self._behind(value[self.mark], path)
        return {name: self.filled(item, (*path, name)) for name, item in value.items()}

    def _behind(self, name: JsonValue, path: tuple[str, ...]) -> JsonValue:
        first, *steps = name if isinstance(name, list) and name else [None]
        held = self.held.get(first) if isinstance(first, str) else None
        if held is None:
            self.error = "there is no such handle; handles come from calls, and are passed on as they are"
            return None
        self.found[render_path(path)] = held.tainted_by
        if held.failure is not None:
            self.failure = held.failure
            self.error = f"the call that a handle comes from failed ({held.failure.kind}): {held.failure.message}"
            return None
        value = held.value
        for step in steps:
            if not _has(value, step):
                self.error = f"what is behind a handle has no part {step!r}"
                return None
            value = cast("Any", value)[step]
        if not self.room.takes(value, json.dumps(name)):
            self.error = f"the values behind handles come to more than {MAX_BATCH_BYTES} bytes in calls made at once"
            return None
        return value


def _has(value: JsonValue, step: JsonValue) -> bool:
    if isinstance(value, dict):
        return isinstance(step, str) and step in value
    is_place = isinstance(value, list) and isinstance(step, int) and not isinstance(step, bool)
    return is_place and -len(cast("list[JsonValue]", value)) <= cast("int", step) < len(cast("list[JsonValue]", value))


def _open(answer: Reply | Failure) -> Reply | Failure:
    return replace(answer, value={"value": answer.value}) if isinstance(answer, Reply) else answer
