"""Runs programs that launder strangers' data, and some that do not; prints what they can do at each level, as Markdown.

    python scripts/evidence_laundering.py

The programs are those of `tests/agent`, run by an agent with `deny_steered({"send": "to"})`. Exit 1 if a mail is sent
that strangers decided or aimed.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "agent"))

from laundering_programs import BENIGN, LAUNDERING, Program, as_written, revealing
from laundering_runs import came_of

from wieldy.run.actions.code.levels import Level

ROWS: tuple[tuple[str, Level, bool], ...] = (
    ("`run`", "run", False),
    ("`handles`, as they are", "handles", False),
    ("`handles`, with `reveal`", "handles", True),
    ("`tracked`", "tracked", False),
)


def main() -> int:
    """Prints the table."""
    print("| level | laundering programs | that sent a mail | benign programs | that sent theirs |")
    print("|---|---|---|---|---|")
    through = 0
    for name, level, reveals in ROWS:
        sent = asyncio.run(_sending(LAUNDERING, level, reveals=reveals))
        allowed = asyncio.run(_sending(BENIGN, level, reveals=reveals))
        through += len(sent)
        print(f"| {name} | {len(LAUNDERING)} | {len(sent)} | {len(BENIGN)} | {len(allowed)} |", flush=True)
    return 1 if through else 0


async def _sending(programs: dict[str, Program], level: Level, *, reveals: bool) -> list[str]:
    written = revealing if reveals else as_written
    return [name for name, program in programs.items() if (await came_of(level, written(program))).sent]


if __name__ == "__main__":
    sys.exit(main())
