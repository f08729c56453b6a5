"""The guide's code does what the guide says."""

import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from wieldy.core.context import Context
from wieldy.core.errors import ArgumentsError
from wieldy.tools import Toolset
from wieldy.tools.lint import lint

GUIDE = (Path(__file__).parents[2] / "docs" / "how-to" / "tools.md").read_text(encoding="utf-8")
CONTEXT = Context(run_id="run", call_id="call", tool_name="tool", idempotency_key="key")


@pytest.fixture
def guide() -> dict[str, Any]:
    """What the guide's first piece of code defines; what it takes for granted is added, the agent left out."""
    (code, *_) = re.findall(r"^```python\n(.*?)^```", GUIDE, flags=re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {"pay_back": lambda *_, **__: None, "__name__": "guide"}
    exec(code.partition("agent = ")[0], names)
    return names


def test_the_tool_works_and_has_no_findings(guide: dict[str, Any]) -> None:
    refund = guide["refund_order"]
    valid = refund.validate({"order_id": "17", "reason": "late", "amount": "2.50"})
    result = refund.bind(valid.values, CONTEXT)()
    assert (result.order_id, result.refunded_on) == ("17", date.today())
    assert refund.writes_of(valid.json) == ("order:17",)
    assert lint(Toolset([refund])) == ()


def test_the_error_is_the_one_that_is_shown(guide: dict[str, Any]) -> None:
    with pytest.raises(ArgumentsError) as caught:
        guide["refund_order"].validate({"reason": "broken", "orderId": "17"})
    assert f"```\n{caught.value}\n```" in GUIDE


def test_the_tool_that_can_be_asked_is_asked_with_what_it_names(guide: dict[str, Any]) -> None:
    code = re.findall(r"^```python\n(.*?)^```", GUIDE, flags=re.MULTILINE | re.DOTALL)[1]
    asked: list[str] = []

    class Ledger:
        def find(self, *, key: str) -> None:
            asked.append(key)

    names = {**guide, "ledger": Ledger()}
    exec(code, names)
    assert names["pay"].effect == "reconcile"
    assert names["pay"].bind_reconcile({"order_id": "17"}, CONTEXT)() is None
    assert asked == ["key"]


def test_the_sets_are_as_described(guide: dict[str, Any]) -> None:
    code = re.findall(r"^```python\n(.*?)^```", GUIDE, flags=re.MULTILINE | re.DOTALL)[2]

    def cancel_order(order_id: str) -> None: ...
    def list_orders() -> None: ...

    names: dict[str, Any] = {
        "refund_order": guide["refund_order"],
        "cancel_order": cancel_order,
        "list_orders": guide["tool"](effect="read")(list_orders),
    }
    exec(code, names)
    assert [each.name for each in names["both"]] == [
        "shop_refund_order",
        "shop_cancel_order",
        "shop_list_orders",
        "orders",
    ]
