"""Limits that are over when a run is resumed: what was started before them is not called undone."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from wieldy.core.context import Context
from wieldy.core.errors import JournalError
from wieldy.core.limits import Limits
from wieldy.core.messages import Message
from wieldy.core.ports import Draft, Entry
from wieldy.run.journal import MemoryJournal
from wieldy.run.loop import resume, run
from wieldy.run.request import RunRequest
from wieldy.run.state import fold
from wieldy.testing import ScriptedModel, call, text
from wieldy.tools import Toolset, tool

pytestmark = pytest.mark.anyio

CALLS = [call("pay", {"what": "a"}), call("pay", {"what": "b"})]


class Forgetful(MemoryJournal):
    """A journal that fails when the first outcome is to be written, and is repaired then."""

    is_broken = True

    def append(
        self, run_id: str, *drafts: Draft, length: int | None = None, is_intent: bool = False
    ) -> Sequence[Entry]:
        if self.is_broken and any(draft.kind in ("call_finished", "run_failed") for draft in drafts):
            raise JournalError("no room")
        return super().append(run_id, *drafts, length=length, is_intent=is_intent)


@pytest.mark.parametrize("limits", [Limits(calls=0), Limits(wall_time_s=0)], ids=["calls", "time"])
async def test_a_call_that_was_started_is_not_said_to_have_not_been_run(limits: Limits) -> None:
    paid: set[str] = set()

    @tool(effect="keyed", writes=["{what}"])
    async def pay(what: str, ctx: Context) -> str:
        """Pays."""
        paid.add(ctx.idempotency_key)
        return f"paid {what}"

    def model(messages: Sequence[Message]) -> list[object]:
        return [text("done")] if any(message.role == "tool" for message in messages) else CALLS

    def request(limits: Limits) -> RunRequest:
        return RunRequest(
            model=ScriptedModel(model),
            toolset=Toolset([pay]),
            journal=journal,
            messages=(Message.user("Go"),),
            limits=limits,
            run_id="a-run",
        )

    journal = Forgetful()
    with pytest.raises(JournalError):
        await run(request(Limits()))
    journal.is_broken = False

    await resume(request(limits))

    results = [each.result for each in fold(journal.read("a-run")).calls]
    assert paid
    for result in results:
        assert result is not None
        assert "was not run" not in result.content
        assert ("paid" in result.content) or (result.is_error and "outcome unknown" in result.content)
