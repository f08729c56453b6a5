"""Ten thousand rows that the model never reads: code filters them, and less than a kilobyte comes back.

python examples/code/rows.py
"""

from typing import Any

from wieldy import Agent, tool
from wieldy.testing import ScriptedModel, call, text

CODE = """
rows = await get_orders()
late = [row for row in rows if row.status == "late" and row.sum > 950]
print(len(rows), "orders,", len(late), "late and large")
[(row.id, row.sum) for row in late]
"""
MODEL = ScriptedModel(
    lambda messages: [call("python", {"code": CODE})] if messages[-1].role == "user" else [text("That is all.")]
)


@tool(effect="read")
def get_orders() -> list[dict[str, Any]]:
    """All orders: id, sum and status."""
    return [
        {"id": number, "sum": number * 7 % 1000, "status": "late" if number % 13 == 0 else "sent"}
        for number in range(10_000)
    ]


def main() -> None:
    result = Agent(MODEL, [get_orders], actions="code").run_sync("Which late orders are above 950?")
    read = next(message.text for message in result.messages if message.role == "tool")
    print(read)
    print(f"The model read {len(read.encode())} bytes.")


if __name__ == "__main__":
    main()
