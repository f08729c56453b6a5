"""What the benchmark's services reach for, outside of their own objects, and what texts of models make happen.

    python conformance/bfcl/reach.py WHEEL [COUNT]

Loads every service and makes all right calls, COUNT changed trials (5,000) and calls of memories under an audit hook,
which Python tells of every file, connection, process and import; then reads and carries out texts that would do harm if
anything evaluated them. Prints what was told of; exit 1 if it is more than the import of a module that is allowed.
"""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from itertools import cycle
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from conversation_mutations import ConversationMutations

from wieldy.evals.bfcl.categories import CONVERSATIONS, MEMORIES
from wieldy.evals.bfcl.conversations import official
from wieldy.evals.bfcl.conversations.data import BfclConversation, conversations
from wieldy.evals.bfcl.conversations.services import MODULES
from wieldy.evals.bfcl.conversations.worlds import World
from wieldy.evals.bfcl.data import BfclData
from wieldy.evals.bfcl.memory.data import Scenario, memory_tasks

EXPLOITS = (
    "__import__('os').system('touch /tmp/broken-out')",
    "cd(folder=__import__('os').getcwd())",
    "cd(folder=open('/tmp/broken-out', 'w').name)",
    "cd(folder=exec('import os'))",
    "cd(folder=(lambda: open('/tmp/broken-out', 'w'))())",
    "cd(folder=[x for x in open('/etc/passwd')][0])",
    "cd(folder=f\"{open('/tmp/broken-out', 'w')}\")",
    "cd(**{'folder': open('/tmp/broken-out', 'w').name})",
    "cd(folder='a'.__class__.__base__.__subclasses__())",
    "cd(folder=9**9**9)",
    "cd(folder='a' * 10**12)",
    "(cd)(folder=print('broken out'))",
    "cd.__globals__['os'].system('touch /tmp/broken-out')",
    "_load_scenario(scenario={}, long_context=open('/tmp/broken-out', 'w'))",
    "power(base=10, exponent=10**10)",
    "power(base=9999999999, exponent=9999999999)",
    "square_root(number=2, precision=10**18)",
    "logarithm(value=2, base=10, precision=10000000000)",
    "round_number(number=5, decimal_places=-10000000000)",
    "eval(\"open('/tmp/broken-out', 'w')\")",
    "breakpoint()",
    "exit()",
)
"""Written as calls; none of them may do anything, and none may take long."""


def main(wheel: Path, count: int = 5_000) -> int:
    """Prints what was told of."""
    data = BfclData(wheel)
    tasks = [each for category in CONVERSATIONS.values() for each in conversations(data, category)]
    scenarios = [memory_tasks(data, category)[0].scenario for category in MEMORIES.values()]
    mutations = ConversationMutations(1, tasks)
    trials = [(each, mutations.changed(each)[0]) for each, _ in zip(cycle(tasks), range(count), strict=False)]
    told, watched = Counter[str](), [True]
    for name in MODULES:
        importlib.import_module(name)  # which opens files of Python itself

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if watched[0]:
            told[f"{event} {arguments[0]}" if event == "import" else event] += 1

    sys.addaudithook(hook)
    calls = sum(_replayed(each, each.world()) for each in tasks)
    for each, turns in trials:
        official.check(each, turns)
    for each in tasks[:20]:
        official.check(each, [[list(EXPLOITS)] for _ in each.turns])
    remembered = sum(map(_remembered, scenarios))
    watched[0] = False
    print(
        f"{calls:,} right calls, {len(trials):,} changed trials, {len(EXPLOITS)} texts in 20 conversations, "
        f"{remembered:,} calls of memories. Told of:\n"
    )
    for event, number in told.most_common():
        print(f"* {event}: {number:,}")
    harmless = {*_HARMLESS, *(f"import {name}" for name in MODULES)}
    return 0 if set(told) <= harmless else 1


_HARMLESS = {"compile", "exec", "object.__getattr__", "builtins.id", "sys._getframe"}
"""A call's text is compiled to a tree; the code of the services, whose checksum is known, is executed; objects are
looked at and copied."""


def _remembered(scenario: Scenario) -> int:
    """Every function of a memory is called with every harmful text in each of its places, 50 times over."""
    world, made = scenario.world({}), 0
    for function in scenario.functions * 50:
        for text in EXPLOITS:
            world.call(function["name"], (), dict.fromkeys(function["parameters"]["properties"], text))
            made += 1
    return made


def _replayed(each: BfclConversation, world: World) -> int:
    side = official.Side("right", each, world)
    return len([side.result(call) for turn in each.turns for call in turn.calls])


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *map(int, sys.argv[2:])))
