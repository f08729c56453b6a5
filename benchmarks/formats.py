"""What it costs to read a call as a model writes it: CPU time for each piece of four characters.

    pip install --target READERS jiter partial-json-parser
    PYTHONPATH=READERS python benchmarks/formats.py [NAME...]

The call is `write_file(path, content)` with content of 10 kB, 100 kB and 1 MB; every piece is fed to a streaming parser
whose events, argument deltas among them, are taken. What is printed is the best of several runs, since other programs
can only add to it. Beside it stand two readers of incomplete JSON that begin anew at every piece, as servers do that
have no streaming parser; they get the arguments alone, and the sizes for which that would take minutes are reckoned
from the size before, with a ~. Readers that are not installed are left out.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from wieldy.core.calls import ToolCall, ToolDefinition
from wieldy.core.messages import Message
from wieldy.formats import get, names
from wieldy.formats.events import ArgumentsDelta

FORMATS = (
    "hermes",
    "qwen3-coder",
    "glm-4.7",
    "mistral-v13",
    "kimi-k2",
    "deepseek-v3.1",
    "deepseek-v3.2",
    "gemma-4",
    "pythonic",
    "harmony",
)
SIZES = (10_000, 100_000, 1_000_000)
PIECE = 4
GOAL_US = 5.0
RUNS = {10_000: 9, 100_000: 5, 1_000_000: 3}
MOST_SECONDS = 20
"""How long a reader that begins anew may take for one size before the next is reckoned."""

TOOL = ToolDefinition(
    name="write_file",
    description="Write a file.",
    input_schema={
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
        "required": ["path", "content"],
    },
)
CODE = '''def area(width: float, height: float) -> float:
    """The area of a rectangle, in "square" metres."""
    if width < 0 or height < 0:
        raise ValueError(f"expected sizes, found {width!r} and {height!r}")
    return [w * h for w, h in {(width, height)}][0]  # <b> & \\n


'''


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The CPU time for one piece.

    Attributes:
        is_reckoned: Whether it follows from a smaller text instead of being measured.
    """

    us: float
    is_reckoned: bool = False

    def __str__(self) -> str:
        return f"{'~' if self.is_reckoned else ''}{self.us:,.{2 if self.us < 100 else 0}f}"


def arguments(size: int) -> dict[str, Any]:
    return {"path": "src/area.py", "content": (CODE * (size // len(CODE) + 1))[:size]}


def pieces_of(text: str) -> list[str]:
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]


def stream(name: str, size: int) -> Cost:
    """Reads the call once and checks it, then measures."""
    given = arguments(size)
    call = ToolCall(id="c", name=TOOL.name, arguments=given)
    format_ = get(name)
    pieces = pieces_of(format_.render_reply(Message.assistant("", [call]), [TOOL], prompt=""))
    parser = format_.parser([TOOL], prompt="")
    events = [event for piece in pieces for event in parser.feed(piece)] + parser.close()
    assert [event.arguments for event in events if isinstance(event, ToolCall)] == [given], name
    deltas = [event.text for event in events if isinstance(event, ArgumentsDelta)]
    assert json.loads("".join(deltas)) == given, name
    is_streamed = format_.repair == 1  # what may still be mended is told when the call is complete
    assert not is_streamed or len(deltas) > len(pieces) / 2, f"{name}: deltas are not told while the call is open"

    def read() -> None:
        parser = format_.parser([TOOL], prompt="")
        feed = parser.feed
        for piece in pieces:
            feed(piece)
        parser.close()

    return Cost(us=best(read, RUNS[size]) / len(pieces) * 1e6)


def best(action: Callable[[], object], runs: int) -> float:
    """The least CPU time of several runs, in seconds."""
    taken: list[float] = []
    for _ in range(runs):
        start = time.process_time()
        action()
        taken.append(time.process_time() - start)
    return min(taken)


def readers() -> dict[str, Callable[[str], Callable[[int], object]]]:
    """Readers of the first so many characters of a text, by name."""
    found: dict[str, Callable[[str], Callable[[int], object]]] = {}
    if jiter := module("jiter"):

        def with_jiter(text: str) -> Callable[[int], object]:
            data = text.encode()  # ASCII, so that characters are bytes
            return lambda end: jiter.from_json(data[:end], partial_mode="trailing-strings")

        found["jiter, from the start"] = with_jiter
    if partial := module("partial_json_parser"):
        found["partial-json-parser, from the start"] = lambda text: lambda end: partial.loads(text[:end])
    return found


def module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def anew(reader: Callable[[str], Callable[[int], object]], size: int, before: Cost | None, grown: float) -> Cost:
    """Measures unless the size before says that it would take too long: cost per piece grows with the text."""
    text = json.dumps(arguments(size))
    ends = range(PIECE, len(text) + PIECE, PIECE)
    if before and (before.is_reckoned or before.us * grown * len(ends) > MOST_SECONDS * 1e6):
        return Cost(us=before.us * grown, is_reckoned=True)
    read = reader(text)
    return Cost(us=best(lambda: [read(end) for end in ends], 1) / len(ends) * 1e6)


def main() -> None:
    chosen = tuple(sys.argv[1:]) or FORMATS
    print(f"CPU time for a piece of {PIECE} characters, in microseconds; Python {sys.version.split()[0]}\n")
    print(f"{'':<38}" + "".join(f"{size // 1000:>12,} kB" for size in SIZES) + f"{'flat':>8}")
    over: list[str] = []
    for name in chosen:
        if name not in names():
            print(f"{name:<38}  not a format here")
            continue
        costs = [stream(name, size) for size in SIZES]
        row(name, costs)
        if max(cost.us for cost in costs) > GOAL_US:
            over.append(name)
    for name, reader in readers().items():
        costs = []
        for index, size in enumerate(SIZES):
            grown = size / SIZES[index - 1]
            costs.append(anew(reader, size, costs[-1] if costs else None, grown))
        row(name, costs)
    print(f"\nGoal: at most {GOAL_US:g} µs. " + (f"Above it: {', '.join(over)}." if over else "All formats keep it."))


def row(name: str, costs: Sequence[Cost]) -> None:
    growth = costs[-1].us / costs[0].us
    print(f"{name:<38}" + "".join(f"{cost!s:>15}" for cost in costs) + f"{growth:>7.1f}x", flush=True)


if __name__ == "__main__":
    main()
