"""The same tasks by code, by calls and in text (ReAct): success, turns, calls, and what a model reads and writes.

    python benchmarks/actions.py [--tasks NAME,NAME] [--json]

No model is needed: for each way of acting a script writes what a competent model would write, turn by turn, and reads
what a model would read (`acting/solving.py`). So this compares the ways, not models: how often a real model writes a
good call or a good program is another question. A task counts as solved by the answer and by what was done to the
world. Characters are those of the conversation: what a request holds is read with every request, tool definitions
included, and a token is about four of them. Under a minute on a CPU; code needs a sandbox.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from acting.solving import MODES, Mode, agent_for, model_for
from acting.tasks import TASKS, Task
from acting.world import World
from wieldy.core.errors import UsageError
from wieldy.core.json import canonical_json
from wieldy.core.messages import Message
from wieldy.core.ports import ModelRequest
from wieldy.run.records import definition_to_json

TITLES: dict[Mode, str] = {"code": "code", "calls": "calls", "react": "text (ReAct)"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One task in one way of acting.

    Attributes:
        turns: Requests to the model.
        calls: Of tools of the world and of `read_result`; `python` is none.
        read: Characters that the model reads, all requests together.
        context: Characters of the last request.
        written: Characters that it writes.
    """

    task: str
    kind: str
    mode: Mode
    solved: bool
    turns: int
    calls: int
    read: int
    context: int
    written: int


def measure(task: Task, mode: Mode) -> Measured:
    """The task, once, in a world of its own."""
    world = World()
    tools = world.tools()
    model = model_for(mode, task.by_code() if mode == "code" else task.by_calls(), tools)
    result = agent_for(mode, model, tools).run_sync(task.prompt)
    sizes = [_size(request) for request in model.requests]
    own = sum(call.name == "python" for message in result.messages for call in message.calls)
    # What it wrote is read again with the next request, but for the last reply.
    answer = [] if mode == "react" else [message for message in result.messages if message.role == "assistant"]
    replies = answer or _replies(model.requests, f"Final Answer: {result.text}")
    return Measured(
        task=task.name,
        kind=task.kind,
        mode=mode,
        solved=result.stop_reason == "answered" and task.is_solved(world, result.text),
        turns=result.usage.requests,
        calls=result.usage.calls - own,
        read=sum(sizes),
        context=sizes[-1],
        written=sum(map(_written, replies)),
    )


def _replies(requests: Sequence[ModelRequest], last: str) -> list[Message]:
    said = [message for message in requests[-1].messages if message.role == "assistant"]
    return [*said, Message.assistant(last)]


def _size(request: ModelRequest) -> int:
    tools = sum(len(canonical_json(definition_to_json(tool))) for tool in request.tools)
    return tools + sum(map(_written, request.messages))


def _written(message: Message) -> int:
    calls = sum(len(call.name or "") + len(canonical_json(getattr(call, "arguments", {}))) for call in message.calls)
    return len(message.text) + calls


def table(measured: Sequence[Measured]) -> str:
    """All of it side by side, and the sums."""
    heads = [f"{TITLES[mode]:^37}" for mode in MODES]
    names = "ok turns calls     read   wrote".rjust(37)
    lines = [f"{'':18}{''.join(heads)}", f"{'task':18}{names * len(MODES)}"]
    for name in dict.fromkeys(each.task for each in measured):
        lines.append(f"{name:18}{''.join(_cells([each]) for each in _of(measured, name))}")
    lines.append(f"{'all':18}{''.join(_cells([each for each in measured if each.mode == mode]) for mode in MODES)}")
    return "\n".join(lines)


def _of(measured: Iterable[Measured], name: str) -> list[Measured]:
    return sorted((each for each in measured if each.task == name), key=lambda each: MODES.index(each.mode))


def _cells(measured: Sequence[Measured]) -> str:
    solved = sum(each.solved for each in measured)
    shown = f"{solved}/{len(measured)}" if len(measured) > 1 else "yes" if solved else "NO"
    sums = [sum(getattr(each, name) for each in measured) for name in ("turns", "calls", "read", "written")]
    return f"{shown:>9}{sums[0]:>6}{sums[1]:>6}{sums[2]:>9,}{sums[3]:>7,}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", default="", help="only these, with commas between")
    parser.add_argument("--json", action="store_true", help="one object per task and way of acting")
    options = parser.parse_args()
    wanted = [name for name in options.tasks.split(",") if name]
    unknown = set(wanted) - {task.name for task in TASKS}
    if unknown:
        parser.error(f"expected tasks among {', '.join(task.name for task in TASKS)}; found {', '.join(unknown)}")
    measured = [measure(task, mode) for task in TASKS if not wanted or task.name in wanted for mode in MODES]
    if options.json:
        for each in measured:
            print(json.dumps(asdict(each)))
    else:
        print(table(measured))
    sys.exit(0 if all(each.solved for each in measured) else 1)


if __name__ == "__main__":
    try:
        main()
    except UsageError as error:  # no code can be isolated here
        sys.exit(str(error))
