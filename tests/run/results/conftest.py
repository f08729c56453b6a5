"""What the tests of results share: a call whose code returned something, as a result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import anyio
import pytest

from wieldy.core.calls import ToolCall, Trust
from wieldy.core.context import Context
from wieldy.run.outcomes import Outcome, Step
from wieldy.run.results import ResultRules, Shaper
from wieldy.tools import Tool, tool

Shape = Callable[..., Outcome]


def step_of(reader: Tool, arguments: dict[str, Any] | None = None) -> Step:
    call = ToolCall(id="c1", name=reader.name, arguments=arguments or {})
    context = Context(run_id="r", call_id=call.id, tool_name=reader.name, idempotency_key="k")
    return Step(call=call, tool=reader, arguments=reader.validate(call.arguments), context=context)


@pytest.fixture(scope="session")
def shape() -> Shape:
    """The outcome of a call whose code returned the value."""

    def fetch() -> Any:
        """Read something."""

    tools = {trust: tool(fetch, effect="read", trust=trust) for trust in ("trusted", "untrusted")}

    def shaped(
        value: object,
        *,
        trust: Trust = "trusted",
        rules: ResultRules | None = None,
        secrets: Mapping[str, str] | None = None,
        of: Tool | None = None,
        arguments: dict[str, Any] | None = None,
        shaper: Shaper | None = None,
    ) -> Outcome:
        async def shape_it() -> Outcome:
            own = shaper or Shaper(rules=rules or ResultRules(), secrets=secrets)
            return await own.succeeded(step_of(of or tools[trust], arguments), value, duration_s=0.5)

        return anyio.run(shape_it)

    return shaped
