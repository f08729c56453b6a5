"""One table of how models on this machine call tools: free, constrained and guided, on the same samples of BFCL.

The ways take turns by the whole sample: one item in several ways after another would be read once and used by all.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from local_models.bfcl import bfcl_data, has_right_name, is_right, request_of
from local_models.free import Free, leniently
from wieldy.connect.models.local import LocalModel
from wieldy.connect.models.weights import EMBEDDED, SMALLEST, find
from wieldy.core.calls import AnyCall, ToolCall
from wieldy.core.ports import Model, ModelReply
from wieldy.run.guided import Guided

SIZES = {"simple": 60, "multiple": 40, "irrelevance": 20}
_WAYS: dict[str, tuple[Callable[[LocalModel], Model], str]] = {
    "free": (Free, "auto"),
    "constrained": (lambda model: model, "auto"),
    "constrained, call demanded": (lambda model: model, "required"),
    "guided": (Guided, "auto"),
    "guided, call demanded": (Guided, "required"),
}
LENIENTLY = "free, any JSON read"


@dataclass(kw_only=True)
class Row:
    """What one model did with one sample in one way.

    Attributes:
        readable: Items with exactly one call that could be read.
        named: Those of the right tool.
        right: Those with right arguments too; of irrelevant requests: items without a call.
    """

    model: str
    way: str
    category: str
    items: int = 0
    readable: int = 0
    named: int = 0
    right: int = 0
    cpu_s: float = 0.0
    calls: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])

    def add(self, item: dict[str, Any], calls: Sequence[AnyCall], cpu_s: float) -> None:
        """One item more."""
        self.items += 1
        self.cpu_s += cpu_s
        self.calls[item["id"]] = [_plain(call) for call in calls]
        self.readable += len(calls) == 1 and isinstance(calls[0], ToolCall)
        if self.category == "irrelevance":
            self.right += not calls
        else:
            self.named += has_right_name(calls, item)
            self.right += is_right(calls, item)

    def __str__(self) -> str:
        parts = [f"{count} ({count / self.items:.2f})" for count in (self.readable, self.named)]
        if self.category == "irrelevance":
            parts = ["", ""]
        low, high = interval(self.right, self.items)
        right = f"{self.right} ({self.right / self.items:.2f}, {low:.2f} to {high:.2f})"
        cells = [self.model, self.way, self.category, str(self.items), *parts, right, f"{self.cpu_s / self.items:.1f}"]
        return f"| {' | '.join(cells)} |"


def interval(count: int, total: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson's)."""
    z, share = 1.96, count / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    reach = z * (share * (1 - share) / total + z * z / (4 * total * total)) ** 0.5 / (1 + z * z / total)
    return max(0.0, middle - reach), min(1.0, middle + reach)


async def run_table(models: Sequence[Path], sizes: dict[str, int], ways: Sequence[str]) -> list[Row]:
    """Prints the table as Markdown, row by row."""
    data, rows = bfcl_data(), list[Row]()
    print("| model | way | sample | items | one readable call | right tool | all right, or no call (95 %) | CPU s |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for path in models:
        model = LocalModel(path=path)
        await model.weigh("Hello", [" world"])  # loads it
        for way in ways or list(_WAYS):
            for category, size in sizes.items():
                if size and not (category == "irrelevance" and _WAYS[way][1] == "required"):
                    new = await _rows(model, path.stem, way, category, data[category][:size])
                    rows += new
                    print("\n".join(map(str, new)), flush=True)
    return rows


def written(rows: Sequence[Row], file: Path) -> None:
    """The rows with every call, as JSON."""
    file.write_text(json.dumps([asdict(row) for row in rows], indent=1), encoding="utf-8")


async def _rows(model: LocalModel, name: str, way: str, category: str, items: Sequence[dict[str, Any]]) -> list[Row]:
    make, choice = _WAYS[way]
    asked, row = make(model), Row(model=name, way=way, category=category)
    lenient = Row(model=name, way=LENIENTLY, category=category)
    for item in items:
        begun = time.process_time()
        *_, reply = [event async for event in asked.stream(request_of(item, choice))]
        cpu_s = time.process_time() - begun
        assert isinstance(reply, ModelReply)
        row.add(item, reply.message.calls, cpu_s)
        lenient.add(item, leniently(reply).message.calls, cpu_s)
    return [row, lenient] if way == "free" else [row]


def _plain(call: AnyCall) -> Any:
    return [call.name, call.arguments] if isinstance(call, ToolCall) else [call.name, call.text]


def models_here() -> list[Path]:
    """The weights in the cache."""
    return [path for weights in (EMBEDDED, SMALLEST) if (path := find(weights)) is not None]
