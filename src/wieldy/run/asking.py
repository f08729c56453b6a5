"""Asking the model for its next reply: what it is shown, what watchers see of the reply, what of it is recorded.

Deliberately not here: whether it is asked (`next_step`), and what a reply must be to be fit for the record (`replies`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import anyio

from wieldy.core.context import charge_nobody
from wieldy.core.limits import Usage
from wieldy.core.ports import ModelRequest
from wieldy.run.outputs import JsonReader, OutputDeltas
from wieldy.run.prices import Prices, cost_of, price_of
from wieldy.run.replies import CallNumbers, adopt, ask
from wieldy.run.secrecy import MaskedDeltas

if TYPE_CHECKING:
    from wieldy.core.calls import ToolDefinition
    from wieldy.core.context import Charge
    from wieldy.core.events import RunEvent
    from wieldy.core.ports import Model, ModelReply
    from wieldy.run.next_step import AskModel
    from wieldy.run.offer import Offer
    from wieldy.run.outputs import OutputReader
    from wieldy.run.recording import Recording
    from wieldy.run.secrecy import Secrecy


@dataclass(slots=True, kw_only=True)
class Asking:
    """Asks the model of one run, turn after turn.

    Attributes:
        wanted: What the answer must be; None for any text.
        emit: Takes events.
        is_watched: Whether anybody does something with them.
        is_request: Whether a reply counts as a request to a model.
    """

    model: Model
    recording: Recording
    offer: Offer
    secrecy: Secrecy | None
    wanted: OutputReader | None
    prices: Prices
    charge: Charge
    emit: Callable[[RunEvent], None]
    is_watched: bool
    is_request: bool = True
    _prices: Prices = field(init=False)
    _numbers: CallNumbers | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        # Looked up once: a table has hundreds of names.
        price = price_of(self.prices, self.model.name)
        self._prices = {} if price is None else {self.model.name: price}

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        """What the model is shown of the tools."""
        shown = self.offer.definitions
        return shown if self.secrecy is None else tuple(map(self.secrecy.definition, shown))

    async def ask(self, step: AskModel) -> bool:
        """Whether there is a reply, now the last of the messages as the journal has it; none came if time was over."""
        numbers = self._call_numbers()  # before there is a reply, which is to be recorded as soon as it has come
        self.recording.ask_model(step)
        request = ModelRequest(
            messages=self.recording.known.messages,
            tools=self.definitions,
            tool_choice=step.choice,
            max_output_tokens=step.max_output_tokens,
            output=None if self.wanted is None else self.wanted.output,
        )
        reply = None
        if step.seconds is None:
            reply = await self._answer(request)
        else:
            with anyio.move_on_after(step.seconds):
                reply = await self._answer(request)
        if reply is None:
            return False
        reply = adopt(reply, numbers, is_request=self.is_request)
        if self._prices and reply.usage.cost_usd is None:
            cost = cost_of(self._prices, self.model.name, reply.usage)
            reply = replace(reply, usage=replace(reply.usage, cost_usd=cost))
        self.recording.reply(reply)
        if self.charge is not charge_nobody:
            self.charge(reply.usage + Usage(calls=len(reply.message.calls)))
        return True

    def _call_numbers(self) -> CallNumbers:
        if self._numbers is None:
            self._numbers = CallNumbers(self.recording.known.messages)
        return self._numbers

    async def _answer(self, request: ModelRequest) -> ModelReply:
        outputs = (
            OutputDeltas(self.emit, self.wanted) if self.is_watched and isinstance(self.wanted, JsonReader) else None
        )
        emit = outputs or self.emit
        deltas = None if self.secrecy is None else MaskedDeltas(emit, self.secrecy)
        try:
            reply = await ask(self.model, request, emit=deltas or emit)
        finally:
            if deltas is not None:
                deltas.close()
        if outputs is not None and (not reply.message.calls or request.tool_choice.mode == "none"):
            outputs.close(is_cut=reply.finish == "length")
        return reply
