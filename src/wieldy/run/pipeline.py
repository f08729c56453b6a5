"""From what a model asked for to what may run: look up, validate, decide. Each stage has its own typed failure.

A call leaves as a `Step`, as an `Outcome` whose text a small model can act on, or as an `ApprovalRequest` that waits
for a person. Deliberately not here: reading calls out of text (whoever reads a model's reply), calls that were started
before (`recovery`), the order (`scheduler`) and the tool's code (`executor`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import structs
from msgspec.json import Encoder

from wieldy.core.approvals import ApprovalRequest
from wieldy.core.calls import InvalidToolCall, ToolCall
from wieldy.core.context import Context
from wieldy.core.errors import ForcedArgumentsError, ModelVisibleError, ToolDeniedError
from wieldy.core.influence import Influence
from wieldy.core.json import JsonObject
from wieldy.run.fitting import copied, fitting_arguments, look_up, unreadable
from wieldy.run.outcomes import Outcome, Step
from wieldy.run.policy import Allow, Ask, Decision, Deny, Policy, Proposal, allow_all, decide, permitted
from wieldy.run.policy.provenance import told
from wieldy.run.records import request_from_json, request_to_json
from wieldy.run.repeats import is_surely_of, repeated
from wieldy.run.results import with_note

if TYPE_CHECKING:
    from wieldy.core.calls import AnyCall
    from wieldy.core.limits import Limits
    from wieldy.core.ports import Journal
    from wieldy.core.principals import Principal
    from wieldy.run.charges import Charges
    from wieldy.run.results import Shaper
    from wieldy.run.secrecy import Secrecy
    from wieldy.run.state import CallState, Doubt, Fold
    from wieldy.run.tree import RunTree
    from wieldy.tools import Tool, ValidArguments

_CAME_LATE: Final = (
    "You asked exactly this before and it gave no answer in time; this is what came of that call. It was not run again."
)

_sorted: Final = Encoder(order="sorted")

Prepared: TypeAlias = "Step | Outcome | ApprovalRequest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """What every call of a run goes through before its code.

    Attributes:
        tools: By name, in the order in which the model was shown them.
        beside: How many more there are.
        known: What is known of the run.
        tree: The runs around it and within it, whose doubts it shares.
        secrets: For tools to take.
        masked: Secrets of the runs around this one.
        secrecy: Keeps all of them out of what people are shown; None if there are none.
        runs_forced: Whether calls are run whose arguments the token budget decided.
        limits_left: What is left of the run's limits at this moment.
        now: Seconds since the epoch.
    """

    run_id: str
    tools: Mapping[str, Tool]
    policy: Policy
    known: Fold
    tree: RunTree
    shaper: Shaper
    journal: Journal
    principal: Principal | None
    secrets: Mapping[str, str]
    masked: Mapping[str, str]
    secrecy: Secrecy | None
    charges: Charges
    runs_forced: bool
    limits_left: Callable[[], Limits]
    now: Callable[[], float]
    beside: int = 0

    async def prepare(self, call: AnyCall, *, after_effect: bool = False) -> Prepared:
        """The step to run, why there is none, or what a person must decide on.

        Args:
            call: What the model asks for.
            after_effect: Whether a call before it in its turn may change something.
        """
        try:
            if isinstance(call, InvalidToolCall):
                raise unreadable(call, self.tools)
            tool = look_up(call.name, self.tools, beside=self.beside)
            self._check_forced(call)
            arguments = fitting_arguments(call, tool)
            self._check_permission(call, tool)
            earlier = repeated(tool, arguments, tree=self.tree, run_id=self.run_id)
            if earlier and not after_effect and (came := self._came_late(call, earlier[0])) is not None:
                return came
            decided = await self._decide(call, tool, arguments, earlier)
        except ModelVisibleError as error:
            return self.shaper.failed(call.id, error)
        if isinstance(decided, ApprovalRequest):
            return decided
        state = self.known.calls[call.id]
        return Step(
            call=call,
            tool=tool,
            arguments=arguments,
            context=self.context(state, tool, key=self._key(state, tool, arguments, earlier)),
            approved_by=decided,
            approved_until=None if decided is None or state.request is None else state.request.expires,
            repeats=earlier,
            reconcile=tool.effect == "reconcile" and bool(earlier),
            fallback=None if tool.fallback is None else await self.fallback(call, tool),
        )

    def context(self, state: CallState, tool: Tool, *, key: str) -> Context:
        """What the call's next attempt may know."""
        return Context(
            run_id=self.run_id,
            call_id=state.call.id,
            tool_name=tool.name,
            idempotency_key=key,
            attempt=state.attempts + 1,
            principal=self.principal,
            tainted_by=self._influence(state.call).sources,
            journal=self.journal,
            secrets=self.secrets,
            masked=self.masked,
            limits_left=self.limits_left,
            on_charge=self.charges.of(state.call.id),
            tree=self.tree,
        )

    def _key(self, state: CallState, tool: Tool, arguments: ValidArguments, earlier: Sequence[Doubt]) -> str:
        # Another tool's key, where a fallback took over, says nothing to this one.
        if state.idempotency_key is not None and state.tool_name == tool.name:
            return state.idempotency_key
        # A call that repeats one of unknown outcome is the same effect, so it has the same key.
        keys = (doubt.idempotency_key for doubt in earlier if self._is_surely_of(tool, doubt))
        known = next(keys, None) if earlier else None
        if known:
            return known
        return sha256(_sorted.encode((self.run_id, state.call.id, tool.name, arguments.json))).hexdigest()[:32]

    def _is_surely_of(self, tool: Tool, doubt: Doubt) -> bool:
        return is_surely_of(tool, doubt, tree=self.tree, run_id=self.run_id)

    def _came_late(self, call: ToolCall, earlier: Doubt) -> Outcome | None:
        """What a call of this run has brought since, without the model knowing."""
        state = self.known.calls.get(earlier.call_id) if earlier.run_id == self.run_id else None
        if state is None or state.late is None:
            return None
        result = replace(state.late, tool_call_id=call.id, content=with_note(state.late.content, _CAME_LATE))
        return Outcome(result=result, recorded_as=earlier.call_id)

    def _check_forced(self, call: ToolCall) -> None:
        # What was begun before was let through then; refusing it now would call undone what may be done.
        if not call.forced or self.runs_forced or self.known.calls[call.id].attempts:
            return
        pointers = ", ".join(f"`{pointer}`" if pointer else "all of them" for pointer in call.forced)
        raise ForcedArgumentsError(
            f"`{call.name}` was not run: the limit on output tokens was so near that arguments were cut short or "
            f"chosen to fit it ({pointers}). Call it again with less text, and with nothing else in the reply."
        )

    def _check_permission(self, call: ToolCall, tool: Tool) -> None:
        refused = permitted(tool, self.principal)
        if refused is not None:
            raise _denied(call, refused.reason)

    async def _decide(
        self, call: ToolCall, tool: Tool, arguments: ValidArguments, earlier: Sequence[Doubt]
    ) -> str | ApprovalRequest | None:
        """Who consented, if somebody had to; the question, if nobody has yet."""
        if self.policy is allow_all and not earlier:
            return None  # it would not look at what is proposed
        influence = self._influence(call, is_repaired=bool(arguments.repairs))
        decision = await decide(
            self.policy,
            Proposal(
                run_id=self.run_id,
                # A copy of what will be used, not of what was written, that the policy cannot change.
                call=replace(call, arguments=copied(arguments.json)),
                tool=tool,
                principal=self.principal,
                messages=self.known.read,
                is_tainted=bool(influence.sources),
                influence=influence,
                prompt_tainted_by=self.known.prompt_tainted_by,
                repeats_unknown=earlier[0].seen_from(self.run_id) if earlier else None,
            ),
        )
        decision = self._careful_with_repeats(decision, tool, earlier)
        if isinstance(decision, Deny):
            raise _denied(call, decision.reason)
        if isinstance(decision, Allow):
            return None
        if call.influence is not None and (note := told(influence)):
            decision = replace(decision, reason=f"{decision.reason} ({note})")
        return self._consent(call, tool, arguments, decision)

    def _influence(self, call: AnyCall, *, is_repaired: bool = False) -> Influence:
        """Which untrusted sources had a part in what of the call."""
        exact = call.influence
        if exact is None:
            return Influence.everywhere(self.known.was_tainted_by)
        # A repair may have moved values; and whatever the run started from had a part in all that it does.
        return (exact.without_paths() if is_repaired else exact).with_all(self.known.began_tainted_by)

    def _careful_with_repeats(self, decision: Decision, tool: Tool, earlier: Sequence[Doubt]) -> Decision:
        if not earlier or not isinstance(decision, Allow) or tool.effect in ("read", "idempotent"):
            return decision
        late = next((doubt for doubt in earlier if doubt.came_late), None)
        if late is not None:  # its key, and what the tool says, are about an effect that did take place
            name = late.seen_from(self.run_id)
            return Ask(reason=f"the same call ({name}) has since come to an end, so this would do it twice")
        if tool.effect != "unsafe" and all(self._is_surely_of(tool, doubt) for doubt in earlier):
            return decision  # the key, or the question whether it happened, keeps it from happening twice
        name = earlier[0].seen_from(self.run_id)
        return Ask(reason=f"the same call ({name}) was started before and its outcome is unknown; this may do it twice")

    def _consent(self, call: ToolCall, tool: Tool, arguments: ValidArguments, ask: Ask) -> str | ApprovalRequest:
        state, now = self.known.calls[call.id], self.now()
        request = _as_recorded(
            ApprovalRequest(
                run_id=self.run_id,
                call_id=call.id,
                tool_name=tool.name,
                arguments=self._shown(tool.with_defaults(arguments.json)),
                reason=self.shaper.mask(ask.reason),
                expires=None if ask.expires_after_s is None else now + ask.expires_after_s,
            )
        )
        asked = state.request
        # The time is set when the question is first asked.
        if asked is None or replace(request, expires=asked.expires) != asked or asked.is_expired(now):
            return request
        if state.approval is None or state.approval.digest != asked.digest:
            return asked
        if not state.approval.is_granted:
            raise _denied(call, f"{state.approval.by} said no" + _because(state.approval.reason))
        return state.approval.by

    def _shown(self, arguments: JsonObject) -> JsonObject:
        return arguments if self.secrecy is None else self.secrecy.arguments(arguments)

    async def fallback(self, call: ToolCall, tool: Tool) -> Step | None:
        """The step that runs instead if the tool fails for good without an effect; None if there is none."""
        if tool.fallback is None:
            return None
        # One step only: what a fallback falls back to would be run with arguments twice removed.
        other = self.tools.get(tool.fallback)
        if other is None:
            return None
        prepared = await self.prepare_instead(replace(call, name=other.name), replace(other, fallback=None))
        return prepared if isinstance(prepared, Step) else None

    async def prepare_again(self, call: ToolCall, tool: Tool) -> Prepared:
        """What `prepare` says of a call that was started before; a fallback may have taken it over."""
        if tool.name == call.name:
            return await self.prepare(call)
        prepared = await self.prepare_instead(replace(call, name=tool.name), replace(tool, fallback=None))
        return structs.replace(prepared, call=call) if isinstance(prepared, Step) else prepared

    async def prepare_instead(self, call: ToolCall, tool: Tool) -> Prepared:
        """The step of another tool for the same call; it passes the same stages."""
        return await replace(self, tools={tool.name: tool}).prepare(call)


def _as_recorded(request: ApprovalRequest) -> ApprovalRequest:
    """As the journal will have it, so that the answer to what was recorded is an answer to this."""
    return request_from_json(request.run_id, copied(request_to_json(request)))


def _denied(call: ToolCall, reason: str) -> ToolDeniedError:
    return ToolDeniedError(
        f"`{call.name}` was not run: {reason}. Do not ask for it again; find another way, or say so."
    )


def _because(reason: str) -> str:
    return f" ({reason})" if reason else ""
