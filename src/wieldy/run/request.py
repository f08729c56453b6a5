"""What one run is given: everything that the loop needs, and nothing that it remembers."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from secrets import token_hex
from typing import TYPE_CHECKING

import anyio

from wieldy.core.context import Charge, charge_nobody
from wieldy.core.influence import Sources
from wieldy.core.limits import Limits
from wieldy.run.policy import Approver, Policy, allow_all
from wieldy.run.prices import PRICES, Prices
from wieldy.run.results import ResultRules
from wieldy.run.tree import RunTree

if TYPE_CHECKING:
    from wieldy.core.calls import ToolCall
    from wieldy.core.json import JsonObject
    from wieldy.core.messages import Message
    from wieldy.core.ports import Journal, Model
    from wieldy.core.principals import Principal
    from wieldy.run.outputs import OutputReader
    from wieldy.run.searching import ToolSearch
    from wieldy.run.state import Parent
    from wieldy.tools import Toolset


def new_run_id() -> str:
    """An id that no run has had."""
    return token_hex(8)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """Everything that one run needs.

    Attributes:
        messages: What the run starts from; a history that strict providers take, instructions first. Empty for a run
            that is resumed: what it started from is in its journal.
        toolset: Entered for as long as the run goes on.
        approver: Asked at once where the policy wants a person's consent; without one the run waits.
        secrets: By name, for tools to take.
        masked: Secrets of the runs around this one: for no tool to take, and masked as well.
        finish: Whether the model may end the run by calling `finish`.
        output: What the answer must be; None for any text.
        search: When the model has to search for its tools; None to show them all.
        runs_forced: Whether calls are run whose arguments the token budget decided.
        around: What is left of the limits of the run around this one, at any moment; None if there is none.
        charge: Told what the run uses as it goes, runs within it included.
        tree: The runs around this one and what they do not know; of its own for a run that no other has started.
        is_code: Whether the model is code: results reach it as data, it may ask the same again and again, and its
            replies count neither as requests to a model nor as turns.
        only_call: The one call that the run is about, where whoever takes the model's part has made it already: it is
            recorded with the run's beginning, the model is not asked, and the run is over with the call.
        beside: How many tools whoever makes the only call has beside those of the toolset, which are near to its name.
        tainted_by: The untrusted sources that may have shaped what the run starts from, beside its messages.
        clock: Seconds that only grow, for limits and durations.
        now: Seconds since the epoch, for what expires.
        sleep: Waits between attempts, in seconds.
    """

    model: Model
    toolset: Toolset
    journal: Journal
    messages: Sequence[Message] = ()
    limits: Limits = field(default_factory=Limits)
    policy: Policy = allow_all
    approver: Approver | None = None
    principal: Principal | None = None
    secrets: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    masked: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    results: ResultRules = field(default_factory=ResultRules)
    prices: Prices = field(default_factory=lambda: PRICES)
    finish: bool = False
    output: OutputReader | None = None
    search: ToolSearch | None = None
    runs_forced: bool = False
    is_code: bool = False
    only_call: ToolCall | None = None
    beside: int = 0
    parent: Parent | None = None
    around: Callable[[], Limits] | None = None
    charge: Charge = charge_nobody
    tree: RunTree = field(default_factory=RunTree)
    tainted_by: Sources = ()
    metadata: JsonObject | None = None
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    run_id: str = field(default_factory=new_run_id)
