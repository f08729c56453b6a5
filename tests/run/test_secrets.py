"""No journal entry, no request to a model and no event holds a secret, wherever it came from."""

import json
import re
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import asdict, is_dataclass
from functools import cache
from typing import Any, Literal, cast

import anyio
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from wieldy.agent import Agent
from wieldy.core.approvals import Approval, ApprovalRequest
from wieldy.core.context import Context
from wieldy.core.errors import ProviderError, RunError, ToolError, TransientToolError, UsageError
from wieldy.core.events import CallDelta, ReasoningDelta, RunEvent, TextDelta
from wieldy.core.media import FilePart, ImagePart
from wieldy.core.messages import Message, ReasoningPart, TextPart
from wieldy.core.ports import Draft, ModelRequest
from wieldy.core.principals import Principal
from wieldy.run.journal import MemoryJournal, kinds, verify
from wieldy.run.policy import Allow, Ask, Decision, Deny, Proposal
from wieldy.run.results import ResultRules
from wieldy.run.results.masks import Mask
from wieldy.run.secrecy import MaskedDeltas, Secrecy, conceal, together
from wieldy.run.state import fold
from wieldy.testing import ScriptedModel, call, reasoning, text
from wieldy.tools import Tool, tool

pytestmark = pytest.mark.anyio

SECRET = "s3cr3t-Value-XYZ"

SECRETS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=4, max_size=24)


def leaves(value: object) -> Iterator[str]:
    """All text in a value, names too."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    match value:
        case str():
            yield value
        case dict():
            for name, item in cast("dict[object, object]", value).items():
                yield from leaves(name)
                yield from leaves(item)
        case list() | tuple():
            for item in cast("Sequence[object]", value):
                yield from leaves(item)
        case _:
            return


def written(agent: Agent) -> list[str]:
    """All text in the journal."""
    journal = agent.journal
    return [leaf for run_id in journal.run_ids() for entry in journal.read(run_id) for leaf in leaves(entry.data)]


def asked(model: ScriptedModel) -> list[str]:
    """All text that the model was asked."""
    return [leaf for request in model.requests for leaf in leaves([list(request.messages), list(request.tools)])]


def shown(events: Sequence[RunEvent]) -> list[str]:
    """All text that was to be watched, and what its pieces are together."""
    whole = ["".join(each.text for each in events if isinstance(each, kind)) for kind in (TextDelta, ReasoningDelta)]
    return [*whole, *(leaf for event in events for leaf in leaves(event))]


def having(secret: str, texts: Sequence[str]) -> list[str]:
    return [each for each in texts if secret in each]


async def watched(agent: Agent, prompt: Any) -> list[RunEvent]:
    return [event async for event in agent.stream(prompt)]


class Everywhere:
    """A run into which the secret comes by all doors that there are."""

    def __init__(self, secret: str, other: str) -> None:
        self.secret, self.other = secret, other
        self.journal = MemoryJournal()
        self.inner_model = ScriptedModel(self._inner_script)
        inner = Agent(
            self.inner_model,
            [self._leak()],
            instructions=f"Say {secret} and {other}.",
            secrets={"key": other},
            metadata={other: [other, secret]},
        )
        self.model = ScriptedModel(self._script)
        self.agent = Agent(
            self.model,
            [self._leak(), self._fail(), *self._flaky(), inner.as_tool("ask", f"Asks, with {secret}.")],
            journal=self.journal,
            instructions=f"Use {secret}.",
            policy=self._policy,
            approver=self._approver,
            principal=Principal(name=f"anna {secret}"),
            secrets={"key": secret},
            results=ResultRules(limit_bytes=512),
            metadata={"note": secret, secret: [1, secret]},
        )

    def _script(self, messages: Sequence[Message]) -> list[Any]:
        secret = self.secret
        answered = sum(message.role == "tool" for message in messages)
        if not answered:
            return [
                reasoning(f"I think of {secret}."),
                text(f"I have {secret}. "),
                call("leak", {"word": secret, "more": {"deep": [secret]}}, id=f"id-{secret}"),
                call("fail", {"word": f"<{secret}>"}),
                call("flaky", {"word": "x"}),
                call("ask", {"prompt": f"Mind {secret}."}),
                call("fail", {"word": "refused"}),
                call("fail", {"wrong": secret}),
                call("fail", '{"word": "' + json.dumps(secret)[1:-1]),
                call(secret, {"word": secret}),
            ]
        return [text(f"The answer is {secret}{secret}.")]

    def _inner_script(self, messages: Sequence[Message]) -> list[Any]:
        if messages[-1].role == "tool":
            return [text(f"It is {self.secret}, or {self.other}.")]
        return [text(self.other), call("leak", {"word": f"{self.other}{self.secret}", "more": {}})]

    def _leak(self) -> Tool:
        secret, other = self.secret, self.other

        @tool(effect="read")
        def leak(word: str, more: dict[str, Any], ctx: Context) -> Any:
            """Tells all that it knows."""
            ctx.progress(f"at {secret} {other}")
            return {secret: [other, {"x": ctx.secrets.get("key")}], "long": f"{secret} " * 200}

        return leak

    def _fail(self) -> Tool:
        secret = self.secret

        @tool(effect="unsafe", description=f"Fails with {secret}.")
        def fail(word: str, also: str = secret, kind: Literal["a", "b"] = "a") -> str:
            raise ToolError(f"no {secret}", detail=f"at {secret}") if word else ValueError(secret)

        return fail

    def _flaky(self) -> tuple[Tool, Tool]:
        secret = self.secret

        @tool(effect="read", retries=0, fallback="steady")
        def flaky(word: str) -> str:
            """Does not work."""
            raise TransientToolError(f"not now, {secret}")

        @tool(effect="read")
        def steady(word: str) -> str:
            """Does not work either."""
            raise ValueError(secret)

        return flaky, steady

    def _policy(self, proposal: Proposal) -> Decision:
        if proposal.call.name != "fail":
            return Allow()
        if proposal.call.arguments.get("word") == "refused":
            return Deny(f"it is {self.secret}")
        return Ask(f"because of {self.secret}")

    def _approver(self, request: ApprovalRequest) -> Approval:
        return request.approve(by=f"bob {self.secret}")

    def ids(self) -> tuple[str, str]:
        """Of the outer run and of the one within it."""
        inner_id, outer_id = self.journal.run_ids()
        return outer_id, inner_id

    @property
    def prompt(self) -> list[Message]:
        return [
            Message.user(f"My password is {self.secret}."),
            Message(role="assistant", parts=(ReasoningPart(text=self.secret, signature="sig"), TextPart(text="Well."))),
            Message(
                role="user",
                parts=(
                    TextPart(text=self.secret[:2]),
                    TextPart(text=self.secret[2:]),
                    ImagePart(url=f"https://host/{self.secret}"),
                    FilePart(name=self.secret, media_type="text/plain", url="data:text/plain,x"),
                ),
            ),
        ]


@cache
def everyday_words() -> str:
    """What stands in a run that has no secrets."""
    run = Everywhere("Qz7-placeholder-1", "Qz7-placeholder-2")
    events = anyio.run(watched, run.agent, run.prompt)
    return "\n".join([*written(run.agent), *asked(run.model), *asked(run.inner_model), *shown(events)])


def is_usable(secret: str) -> bool:
    """Whether it can be masked, and cannot stand by chance in a digest, an id or a word of the runtime."""
    is_number = re.fullmatch(r"[0-9a-f]+", secret.strip())
    return len(secret.strip()) >= 4 and not is_number and secret.strip() not in everyday_words()


@settings(max_examples=100, deadline=None)
@given(secret=SECRETS, other=SECRETS)
def test_no_entry_no_request_and_no_event_holds_a_secret(secret: str, other: str) -> None:
    assume(is_usable(secret) and is_usable(other))
    try:
        Mask(together({"key": other}, {"key": secret}))
    except UsageError:  # it stands in what would mask it
        assume(False)
    run = Everywhere(secret, other)
    events = anyio.run(watched, run.agent, run.prompt)
    outer_id, inner_id = run.ids()
    for place in (written(run.agent), asked(run.model), asked(run.inner_model), shown(events)):
        assert having(secret, place) == having(secret.strip(), place) == []
    within = [leaf for entry in run.journal.read(inner_id) for leaf in leaves(entry.data)]
    for place in (within, asked(run.inner_model)):
        assert having(other, place) == []
    state = fold(run.journal.read(outer_id))
    assert state.status == "finished"
    assert [each.status for each in state.calls] == ["finished"] * 8
    assert having(secret, [message.text for message in state.messages]) == []
    verify(run.journal.read(outer_id))


@pytest.mark.parametrize(
    "secret",
    ["assistant", "text", "leak", "call_finished", "keyed", "content", "1000", "trusted", "word", "role", "answered"],
)
def test_a_secret_that_is_a_word_of_the_program_breaks_nothing(secret: str) -> None:
    run = Everywhere(secret, "Qz7-other")
    anyio.run(watched, run.agent, run.prompt)
    outer_id, inner_id = run.ids()
    outer, inner = fold(run.journal.read(outer_id)), fold(run.journal.read(inner_id))
    assert (outer.status, inner.status) == ("finished", "finished")
    assert [each.tool_name for each in outer.calls][:4] == ["leak", "fail", "steady", "ask"]


def agent_with(model: ScriptedModel, *tools: Tool, **rules: Any) -> Agent:
    return Agent(model, tools, secrets={"key": SECRET}, **rules)


def clean(agent: Agent, *models: ScriptedModel) -> bool:
    return not having(SECRET, [*written(agent), *(leaf for model in models for leaf in asked(model))])


@tool(effect="read")
def look(at: str) -> str:
    """Looks at something."""
    return f"saw {at}"


async def test_a_person_who_says_a_secret_has_it_masked() -> None:
    model = ScriptedModel([[call("look", {"at": "x"})], [text("done")]])
    agent = agent_with(model, look, policy=lambda proposal: Ask())
    result = await agent.run("Go")
    said = agent.deny(result.run_id, "c1", by=f"bob {SECRET}", reason=f"because {SECRET}")
    assert (said.by, said.reason) == ("bob [secret key]", "because [secret key]")
    end = await agent.resume(result.run_id)
    assert "bob [secret key] said no (because [secret key])" in end.messages[-2].text
    assert clean(agent, model)


async def test_consent_by_somebody_whose_name_holds_a_secret_counts() -> None:
    model = ScriptedModel([[call("look", {"at": SECRET})], [text("done")]])
    agent = agent_with(model, look, policy=lambda proposal: Ask(f"it is {SECRET}"))
    result = await agent.run("Go")
    [request] = result.waiting
    assert agent.pending(result.run_id) == (request,)
    assert (request.arguments, request.reason) == ({"at": "[secret key]"}, "it is [secret key]")
    agent.approve(result.run_id, "c1", by=SECRET, digest=request.digest)
    end = await agent.resume(result.run_id)
    assert end.messages[-2].text == "saw [secret key]"
    assert clean(agent, model)


async def test_what_others_wrote_into_the_journal_is_not_shown_to_the_model() -> None:
    model = ScriptedModel([[call("look", {"at": "x"})], [text("done")]])
    agent = agent_with(model, look, policy=lambda proposal: Ask())
    result = await agent.run("Go")
    [request] = result.waiting
    answer = request.deny(by="bob", reason=f"because {SECRET}")
    agent.journal.append(result.run_id, Draft(kinds.APPROVAL, cast("Any", asdict(answer))))
    await agent.resume(result.run_id)
    assert having(SECRET, asked(model)) == []


async def test_who_decides_must_be_said_also_where_there_are_secrets() -> None:
    agent = agent_with(ScriptedModel([[call("look", {"at": "x"})]]), look, policy=lambda proposal: Ask())
    result = await agent.run("Go")
    with pytest.raises(UsageError, match="found None"):
        agent.approve(result.run_id, "c1", by=cast("str", None))


class Refused(ScriptedModel):
    """A model whose provider repeats the key."""

    def stream(self, request: ModelRequest) -> Any:
        raise ProviderError(f"the key {SECRET} is wrong") from ProviderError(f"at {SECRET}")


async def test_an_error_that_leaves_the_run_says_no_secret_and_is_the_same_error() -> None:
    agent = agent_with(Refused([]))
    with pytest.raises(ProviderError, match=r"the key \[secret key\] is wrong") as caught:
        await agent.run("Go")
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    assert clean(agent)


async def test_an_error_of_another_program_is_not_touched() -> None:
    theirs = KeyError(SECRET)

    def policy(proposal: Proposal) -> Decision:
        raise theirs

    agent = agent_with(ScriptedModel([[call("look", {"at": "x"})]]), look, policy=policy)
    with pytest.raises(KeyError) as caught:
        await agent.run("Go")
    assert caught.value is theirs
    assert theirs.args == (SECRET,)
    assert clean(agent)


def test_concealing_ends_where_errors_lead_to_one_another() -> None:
    first, second = RunError(SECRET), RunError(f"x {SECRET}", 5)
    first.__cause__, second.__cause__ = second, first
    conceal(BaseExceptionGroup("", [first]), Mask({"key": SECRET}).text)
    assert (first.args, second.args) == (("[secret key]",), ("x [secret key]", 5))


async def test_secrets_of_the_outer_run_are_masked_in_nested_runs_and_not_given_to_them() -> None:
    given: list[dict[str, str]] = []

    @tool(effect="read")
    def tell(ctx: Context) -> str:
        """Tells what it was given."""
        given.append(dict(ctx.secrets))
        return f"{SECRET} and {ctx.secret('own')}"

    def script(messages: Sequence[Message]) -> list[Any]:
        return [text(messages[-1].text)] if messages[-1].role == "tool" else [call("tell")]

    def ask(messages: Sequence[Message]) -> list[Any]:
        return [text("done")] if messages[-1].role == "tool" else [call("ask", {"prompt": "Go"})]

    models = [ScriptedModel(script), ScriptedModel(ask), ScriptedModel(ask)]
    last = Agent(models[0], [tell], secrets={"own": "hunter22-hunter22"})
    middle = Agent(models[1], [last.as_tool("ask", "Asks.")])
    agent = agent_with(models[2], middle.as_tool("ask", "Asks."))
    result = await agent.run("Go")
    assert given == [{"own": "hunter22-hunter22"}]
    assert result.messages[-2].text == "done"
    assert clean(agent, *models)
    assert having("hunter22", [*written(agent), *asked(models[0])]) == []
    assert having("[secret key] and [secret own]", written(agent))


async def test_a_model_may_name_no_tool_by_a_secret_and_its_call_is_answered() -> None:
    model = ScriptedModel([[call(SECRET, {"at": SECRET})], [text("done")]])
    agent = agent_with(model, look)
    result = await agent.run("Go")
    assert "no tool `[secret key]`" in result.messages[-2].text
    assert clean(agent, model)


async def test_numbers_that_are_secrets_are_masked_in_arguments_and_nowhere_else() -> None:
    @tool(effect="read")
    def dial(number: int | str) -> str:
        """Dials."""
        return f"dialled {number}"

    model = ScriptedModel([[call("dial", {"number": 4242})], [text("done")]])
    agent = Agent(model, [dial], secrets={"pin": "4242"})
    result = await agent.run("Go")
    assert result.messages[-2].text == "dialled [secret pin]"
    assert result.stop_reason == "answered"


async def test_thoughts_that_were_masked_are_not_signed_any_more() -> None:
    secrecy = Secrecy({"key": SECRET})
    parts = [
        {"type": "reasoning", "text": f"I know {SECRET}", "signature": "sig"},
        {"type": "reasoning", "text": "I know", "signature": "sig"},
    ]
    draft = secrecy.draft(
        Draft(kinds.REPLY, cast("Any", {"turn": 1, "message": {"role": "assistant", "parts": parts}}))
    )
    first, second = cast("Any", draft.data)["message"]["parts"]
    assert first == {"type": "reasoning", "text": "I know [secret key]", "signature": None}
    assert second == parts[1]


def test_an_entry_of_an_unknown_kind_is_masked_as_a_whole() -> None:
    draft = Secrecy({"key": SECRET}).draft(Draft("mine", {"role": [SECRET], SECRET: 1}))
    assert draft == Draft("mine", {"role": ["[secret key]"], "[secret key]": 1})


def test_secrets_of_one_name_get_numbers_and_the_same_secret_is_kept_once() -> None:
    assert together({"k": "a"}, {}) == {"k": "a"}
    assert together({"k": "a"}, {"k": "a", "j": "b"}) == {"k": "a", "j": "b"}
    assert together({"k": "a", "k 2": "b"}, {"k": "c"}) == {"k": "a", "k 2": "b", "k 3": "c"}


@given(
    secrets=st.lists(st.text("ab", min_size=4, max_size=7), min_size=1, max_size=3, unique=True),
    pieces=st.lists(st.text("abc", max_size=6), max_size=8),
)
def test_a_secret_that_comes_in_pieces_is_never_shown(secrets: list[str], pieces: list[str]) -> None:
    secrecy = Secrecy({str(number): secret for number, secret in enumerate(secrets)})
    events: list[RunEvent] = []
    deltas = MaskedDeltas(events.append, secrecy)
    for piece in pieces:
        deltas(TextDelta(text=piece))
        deltas(CallDelta(index=1, name="n", arguments=piece))
        deltas(CallDelta(index=0, arguments=piece))
    deltas.close()
    texts = ["".join(event.text for event in events if isinstance(event, TextDelta))]
    texts += [
        "".join(event.arguments for event in events if isinstance(event, CallDelta) and event.index == index)
        for index in (0, 1)
    ]
    assert not any(secret in each for secret in secrets for each in texts)
    whole = "".join(pieces)
    if not any(secret in whole for secret in secrets):
        assert texts == [whole] * 3


def test_text_that_cannot_become_a_secret_is_shown_at_once() -> None:
    events: list[RunEvent] = []
    deltas = MaskedDeltas(events.append, Secrecy({"key": SECRET}))
    for piece in ("All is ", "well, s", "ay I, s3cr3t", "-V", "alue"):
        deltas(TextDelta(text=piece))
    assert [event.text for event in events if isinstance(event, TextDelta)] == ["All is ", "well, ", "say I, "]
    deltas.close()
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "All is well, say I, s3cr3t-Value"


async def test_without_secrets_entries_are_written_as_they_are() -> None:
    model = ScriptedModel([[call("look", {"at": SECRET})], [text(SECRET)]])
    agent = Agent(model, [look])
    result = await agent.run(SECRET)
    assert result.text == SECRET
    assert having(SECRET, written(agent))
