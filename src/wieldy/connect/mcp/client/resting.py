"""A server's question to a person, asked as an approval: the call rests until somebody has said yes or no.

The question is a run within the run: it begins with what the server wants to know, asks for consent to one call for
each question, and is over when all are decided; so it is in the journal, outlives the process, and is answered as every
approval is. A yes accepts exactly what is shown, which are the defaults of the form; a form that needs more than a yes
is not asked this way. Law: what was sent after an answer is never sent again by itself.
Deliberately not here: speaking to the server (`server`).
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Final, cast

from wieldy.connect.mcp.client.questions import read_question
from wieldy.core.calls import ToolCall
from wieldy.core.json import JsonObject
from wieldy.core.limits import Usage
from wieldy.core.messages import Message
from wieldy.core.ports import ModelReply
from wieldy.run.loop import nothing, resume, run
from wieldy.run.nested import nested_run_id
from wieldy.run.outcomes import Rest
from wieldy.run.policy import Ask, Decision, Proposal
from wieldy.run.request import RunRequest
from wieldy.run.state import Parent, fold
from wieldy.run.tree import RunTree
from wieldy.schema import CompiledSchema
from wieldy.tools.declare import tool
from wieldy.tools.toolset import Toolset

if TYPE_CHECKING:
    from wieldy.core.context import Context
    from wieldy.core.json import JsonValue
    from wieldy.core.ports import ModelRequest
    from wieldy.run.state import RunState

ANSWER: Final = "answer_server"
"""The tool whose call a person consents to; it changes nothing."""


@tool(name=ANSWER, effect="read")
def _answer(server: str, question: str, answer: dict[str, object], url: str | None = None) -> str:
    """Answer what a server asks a person."""
    del server, question, answer, url
    return "accepted"


def can_rest(result: JsonObject, context: Context) -> bool:
    """Whether a yes or a no answers all that the server asks with this result, and somebody can be asked later."""
    return context.journal is not None and isinstance(context.tree, RunTree) and _proposals(result) is not None


def known(context: Context) -> RunState | None:
    """What is known of the question of this call; None if it has asked none."""
    entries = () if context.journal is None else context.journal.read(nested_run_id(context.idempotency_key))
    return fold(entries) if entries else None


def has_failed_before(context: Context) -> bool:
    """Whether the attempt before this one is recorded to have failed, so that it leaves no doubt; a fallback's has."""
    if context.journal is None:
        return True
    calls = fold(context.journal.read(context.run_id)).calls
    failures = (failure.attempt for call in calls if call.call.id == context.call_id for failure in call.failures)
    return context.attempt - 1 in failures


async def asked(context: Context, server: str | None, result: JsonObject | None = None) -> JsonObject | Rest:
    """What to send with the request that is made again; or the call rests.

    Args:
        context: Of the call.
        server: What the server is called.
        result: What it asks; None where the call has asked before.

    Raises:
        RunError: The question cannot be recorded.
    """
    assert context.journal is not None
    assert isinstance(context.tree, RunTree)
    question = result if result is not None else _begun(context)
    request = RunRequest(
        model=_Asking(question, server or "the MCP server"),
        toolset=Toolset([_answer]),
        journal=context.journal,
        run_id=nested_run_id(context.idempotency_key),
        messages=() if result is None else (Message.user(json.dumps(result)),),
        policy=_ask,
        principal=context.principal,
        masked={**context.masked, **context.secrets},
        parent=Parent(run_id=context.run_id, call_id=context.call_id),
        tree=context.tree,
        is_code=True,
    )
    ended = await (run(request, nothing) if result is not None else resume(request, nothing))
    if ended.stop_reason == "waiting_for_approval":
        return Rest(waiting=ended.waiting)
    answers = [message.result for message in ended.messages if message.result is not None]
    proposals = _proposals(question) or {}
    responses: JsonObject = {
        key: {"action": "decline"} if answer.is_error else _accepted(proposal)
        for (key, proposal), answer in zip(proposals.items(), answers, strict=True)
    }
    state = question.get("requestState")
    return {"inputResponses": responses} if state is None else {"inputResponses": responses, "requestState": state}


class _Asking:
    """Implements `Model`: asks for one call for each question, and is done."""

    name = "mcp:question"

    def __init__(self, question: JsonObject, server: str) -> None:
        self._proposals = _proposals(question) or {}
        self._server = server

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelReply]:
        """The calls; once they have their results, the end."""
        if any(message.role == "tool" for message in request.messages):
            yield ModelReply(message=Message.assistant("Decided."), usage=Usage())
            return
        calls = tuple(
            ToolCall(id=f"question_{number}", name=ANSWER, arguments={"server": self._server, **proposal})
            for number, proposal in enumerate(self._proposals.values(), 1)
        )
        yield ModelReply(message=Message.assistant("", calls=calls), usage=Usage())


def _ask(proposal: Proposal) -> Decision:
    del proposal
    return Ask(reason="a server asks a person; a yes sends it exactly this answer")


def _begun(context: Context) -> JsonObject:
    """What the server wanted to know, from the record."""
    state = known(context)
    assert state is not None
    return cast("JsonObject", json.loads(state.messages[0].text))


def _proposals(result: Mapping[str, JsonValue]) -> dict[str, JsonObject] | None:
    """For each question what a yes would say; None where one needs more than that."""
    asked_for = result.get("inputRequests")
    if not isinstance(asked_for, dict) or not asked_for:
        return None
    proposals: dict[str, JsonObject] = {}
    for key, entry in asked_for.items():
        match entry:
            case {"method": "elicitation/create", "params": dict(params)}:
                proposal = _proposal(cast("JsonObject", params))
            case _:
                return None
        if proposal is None:
            return None
        proposals[key] = proposal
    return proposals


def _proposal(params: JsonObject) -> JsonObject | None:
    question = read_question(params, server=None)
    shown: JsonObject = {"question": question.message, "answer": {}}
    if question.schema is None:
        return shown if question.url is None else {**shown, "url": question.url}
    properties = question.schema.get("properties")
    parts = properties if isinstance(properties, dict) else {}
    required = question.schema.get("required")
    content: JsonObject = {}
    for name, part in parts.items():
        if not isinstance(part, dict):
            return None
        if "default" in part:
            content[name] = part["default"]
        elif part.get("type") == "boolean" and isinstance(required, list) and name in required:
            content[name] = True  # what a yes says
    return {**shown, "answer": content} if CompiledSchema(question.schema).accepts(content) else None


def _accepted(proposal: JsonObject) -> JsonObject:
    return {"action": "accept"} if "url" in proposal else {"action": "accept", "content": proposal["answer"]}
