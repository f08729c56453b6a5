"""A run whose program is killed twice, each time at the worst moment, and that ends all the same.

    python examples/recovery/resume.py

A clerk pays two invoices and posts a letter. Its process is killed with SIGKILL when the bank has taken the second
payment, and the next one when the letter is in the post box; neither had time to record what it had done. What to look
at: the first payment is not made again; the second is asked for again with the same key, so the bank pays once; and of
the letter the model is told that nobody knows, so that it can say so.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wieldy import Agent, Context, Message, Tool, tool
from wieldy.testing import ScriptedModel, call, text


class Town:
    """The world outside: it stays as it is when our process dies, and keeps its books in a file."""

    def __init__(self, books: Path) -> None:
        self._books = books

    @property
    def done(self) -> list[str]:
        """Everything that was done, in order."""
        return [entry["what"] for entry in self._entries()]

    def do(self, what: str, *, key: str | None = None) -> None:
        """It is done; not again where the same key comes a second time."""
        entries = self._entries()
        if key is None or all(entry["key"] != key for entry in entries):
            self._books.write_text(json.dumps([*entries, {"what": what, "key": key}]), encoding="utf-8")

    def _entries(self) -> list[dict[str, Any]]:
        return json.loads(self._books.read_text(encoding="utf-8")) if self._books.exists() else []


def tools_of(town: Town, *, dies_after: str) -> list[Tool]:
    """What the clerk can do, one thing after the other at the same desk.

    Args:
        town: Where it has an effect.
        dies_after: After this effect the process dies.
    """

    def die_after(what: str) -> None:
        if what == dies_after:
            os.kill(os.getpid(), signal.SIGKILL)

    @tool(effect="keyed", writes=["desk"])
    def pay(invoice: str, ctx: Context) -> str:
        """Pay an invoice. The bank does the same payment only once, which it knows by its key."""
        town.do(f"invoice {invoice} paid", key=ctx.idempotency_key)
        die_after(f"invoice {invoice} paid")
        return f"Invoice {invoice} is paid."

    @tool(effect="unsafe", writes=["desk"])
    def post_letter(to: str) -> str:
        """Post a letter. The post keeps no list of what it was given, so nobody can be asked afterwards."""
        town.do(f"letter to {to} posted")
        die_after(f"letter to {to} posted")
        return f"The letter to {to} is posted."

    return [pay, post_letter]


def clerk(messages: Sequence[Message]) -> list[Any]:
    """A model that says what it was told."""
    results = [message.result for message in messages if message.result is not None]
    if not results:
        return [call("pay", {"invoice": "A"}), call("pay", {"invoice": "B"}), call("post_letter", {"to": "Ada"})]
    return [text("\n".join(f"- {result.content}" for result in results))]


def work(folder: Path, *, dies_after: str = "") -> str:
    """The run is begun, or gone on with; what the clerk reports at its end."""
    agent = Agent(
        ScriptedModel(clerk), tools_of(Town(folder / "town.json"), dies_after=dies_after), journal=folder / "runs.db"
    )
    runs = list(agent.journal.run_ids())
    result = agent.resume_sync(runs[0]) if runs else agent.run_sync("Pay invoices A and B, and write to Ada.")
    return result.text


def main() -> None:
    if len(sys.argv) == 3:  # one of the processes that die
        work(Path(sys.argv[1]), dies_after=sys.argv[2])
        return
    with tempfile.TemporaryDirectory(prefix="clerk-") as name:
        for moment in ("invoice B paid", "letter to Ada posted"):
            ended = subprocess.run([sys.executable, __file__, name, moment], check=False)
            print(f"A process was killed when this was done: {moment}. (Its exit code: {ended.returncode})")
        print(f"\nThe last process ends the run. The clerk reports:\n{work(Path(name))}")
        print(f"\nWhat really happened: {', '.join(Town(Path(name) / 'town.json').done)}.")


if __name__ == "__main__":
    main()
