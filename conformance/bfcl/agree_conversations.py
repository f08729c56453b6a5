"""Compares our `official` verdicts on conversations with those of the leaderboard's own checker.

    python conformance/bfcl/agree_conversations.py WHEEL [COUNT] [SEED]

The right calls of all conversations, and COUNT changed trials (20,000), each judged by the checker as in a new process.
Then what it says of right trials after broken ones in the same process, and what ours says, ten times over. Prints the
differences; exit 1 if there is any, or if ours is wrong. The wheel is unpacked into a temporary folder, and imported
from there.
"""

from __future__ import annotations

import gc
import sys
import tempfile
import zipfile
from collections import Counter
from itertools import cycle
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from conversation_mutations import ConversationMutations, Turns
from real_conversations import RealConversationChecker

from wieldy.evals.bfcl.categories import CONVERSATIONS
from wieldy.evals.bfcl.conversations import official
from wieldy.evals.bfcl.conversations.data import BfclConversation, conversations
from wieldy.evals.bfcl.conversations.worlds import World
from wieldy.evals.bfcl.data import BfclData, file_of

MOST_SHOWN = 20
REPEATS = 10


def main(wheel: Path, count: int = 20_000, seed: int = 20_261_130) -> int:
    """Prints the tables and the differences."""
    data = BfclData(wheel)
    all_of_them = [each for category in CONVERSATIONS.values() for each in conversations(data, category)]
    rows = {row["id"]: row for category in CONVERSATIONS.values() for row in data.rows(file_of(category))}
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(wheel).extractall(folder)
        real = RealConversationChecker(Path(folder))
        compared, outcomes, differences = Counter[str](), Counter[str](), list[str]()

        def compare(each: BfclConversation, turns: Turns, kinds: tuple[str, ...]) -> None:
            mistake, theirs = official.check(each, turns), real.check(rows[each.id], _right(each), turns)
            ours = None if mistake is None else mistake.reason
            outcomes[theirs or "right"] += 1
            for kind in set(kinds) or {"nothing is changed"}:
                compared[kind] += 1
            if ours != theirs:
                differences.append(f"{each.id}: ours {ours}, the checker {theirs}: {turns!r:.600}")

        for each in all_of_them:
            compare(each, [[list(turn.calls)] if turn.calls else [] for turn in each.turns], ("the right calls",))
        mutations = ConversationMutations(seed, all_of_them)
        for each, _ in zip(cycle(all_of_them), range(count), strict=False):
            compare(each, *mutations.changed(each))
        print("| what is changed | trials that have it |\n|---|---|")
        for kind, number in sorted(compared.items()):
            print(f"| {kind} | {number:,} |")
        print(f"\n{sum(outcomes.values()):,} trials, {len(differences)} differences. The checker's verdicts:\n")
        for outcome, number in outcomes.most_common():
            print(f"* {outcome}: {number:,}")
        for difference in differences[:MOST_SHOWN]:
            print(difference)
        base = [each for each in all_of_them if each.category.name == "multi_turn_base"]
        is_right = _repeat(base, rows, real)
    return 1 if differences or not is_right else 0


def _right(each: BfclConversation) -> list[list[str]]:
    return [list(turn.calls) for turn in each.turns]


def _repeat(base: list[BfclConversation], rows: dict[str, dict[str, object]], real: RealConversationChecker) -> bool:
    """Whether ours is right about right trials that follow trials that were broken off."""
    right = {each.id: [[calls] if calls else [] for calls in _right(each)] for each in base}
    broken = {each.id: [*right[each.id][:-1], []] for each in base}
    real.forget()
    for each in base:
        real.check_again(rows[each.id], _right(each), broken[each.id])
    theirs = [sum(real.check_again(rows[each.id], _right(each), right[each.id]) is None for each in base) for _ in "12"]
    kept = real.kept_instances
    ours = list[int]()
    for _ in range(REPEATS):
        for each in base:
            official.check(each, broken[each.id])
        ours.append(sum(official.check(each, right[each.id]) is None for each in base))
    gc.collect()
    left = sum(isinstance(each, World) for each in gc.get_objects())
    print(f"\nRight trials after broken ones in one process, found right of {len(base)}:\n")
    print(f"* the checker: {', '.join(map(str, theirs))} ({kept:,} services are kept)")
    print(f"* ours: {', '.join(map(str, ours))} ({left} worlds are kept)")
    return all(number == len(base) for number in ours) and left == 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *map(int, sys.argv[2:])))
