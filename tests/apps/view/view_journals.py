"""A journal that the page is tested with: real runs of scripted models, and entries that nobody wrote so."""

from __future__ import annotations

from pathlib import Path

from wieldy import Agent, tool
from wieldy.core.ports import Draft, Journal
from wieldy.run.journal import SqliteJournal, kinds
from wieldy.run.policy import Allow, Ask, Proposal
from wieldy.testing import ScriptedModel, call, text

HOSTILE = (
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> <b>bold</b> "
    "\x1b[31mred\x1b[0m \u202egnihtemos\u202c a\u200bb {{SCRIPT}}"
)
DAMAGED = "damaged/../<b>run</b>"


@tool(effect="read")
def find_order(order_id: str) -> dict[str, str]:
    """Find an order."""
    if order_id == "0":
        raise ValueError("there is no order 0")
    return {"order_id": order_id, "status": "shipped"}


@tool(effect="read", trust="untrusted")
def page(url: str) -> str:
    """Read a page of strangers."""
    return HOSTILE if url != "long" else "0123456789 " * 20_000


@tool(effect="unsafe")
def refund(order_id: str, amount: float) -> str:
    """Refund an order."""
    return f"refunded {amount} for {order_id}"


def ask(proposal: Proposal) -> Ask | Allow:
    """A person decides on refunds."""
    return Ask(f"it costs money {HOSTILE}") if proposal.tool.name == "refund" else Allow()


def fill(journal: Journal) -> dict[str, str]:
    """The journal has a run of each kind; their ids by what they are."""

    def run(turns: list[list[object]], prompt: str, *tools: object) -> str:
        model = ScriptedModel(turns, name="scripted")  # pyright: ignore[reportArgumentType]
        return Agent(model, [*tools], journal=journal, policy=ask).run_sync(prompt).run_id  # pyright: ignore[reportArgumentType]

    order = call("find_order", {"order_id": "17"})
    reader = Agent(
        ScriptedModel([[call("page", {"url": "x"})], [text("It says hello.")]], name="reader"), [page], journal=journal
    )
    bought = [call("refund", {"order_id": HOSTILE, "amount": 5.5}, id="r1")]
    return {
        "plain": run([[text("Looking."), order], [text("It was shipped.")]], "Where is order 17?", find_order),
        "failing": run(
            [[call("find_order", {"order_id": "0"})], [order], [text("Shipped.")]], "Where is order 0?", find_order
        ),
        "hostile": run([[call("page", {"url": HOSTILE})], [text(HOSTILE)]], HOSTILE, page),
        "long": run([[call("page", {"url": "long"})], [text("y" * 400_000)]], "Read the long page. " * 40, page),
        "outer": run(
            [[call("assist", {"prompt": "Read the page."})], [text("Hello.")]],
            "Have it read.",
            reader.as_tool("assist", "Assists."),
        ),
        "waiting": run([bought], "Refund order 17, please.", refund),
    }


def fill_with_nonsense(journal: Journal) -> None:
    """Entries of kinds that nobody knows, with data of any form, and a run that never began."""
    journal.append(DAMAGED, Draft(kinds.REPLY, {"message": {"parts": "none"}}), Draft("unheard_of", {"x": [HOSTILE]}))


def journal_in(folder: Path) -> tuple[Path, dict[str, str]]:
    """A file with all of them."""
    file = folder / "runs.db"
    with SqliteJournal(file) as journal:
        made = fill(journal)
        fill_with_nonsense(journal)
    return file, made
