"""Listed kinds of wrong and of right trials of conversations, made of every task with room for them, before both rules.

    python conformance/bfcl/kinds_conversations.py WHEEL

Then trials that are changed by chance from a seed, and how often which verdicts of both rules fall together. Exit 1 if
`strict` accepts a wrong one of the listed or rejects a right one. Tasks whose right calls are not offered are left out,
and counted. With --show the trials on which `strict` is not as expected are printed.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from conversation_mutations import ConversationMutations

from wieldy.evals.bfcl.categories import CONVERSATIONS
from wieldy.evals.bfcl.conversations import official, strict
from wieldy.evals.bfcl.conversations.data import BfclConversation, conversations
from wieldy.evals.bfcl.conversations.defects import is_valid
from wieldy.evals.bfcl.conversations.strict import Made, wanted
from wieldy.evals.bfcl.conversations.written import read_call, write_call
from wieldy.evals.bfcl.data import BfclData
from wieldy.evals.bfcl.decoding import DecodingError

CHANGED_TRIALS = 2_000
SEED = 20_261_130

Turns = list[list[Made]]
Kind = Callable[[BfclConversation, Turns], Iterator[Turns]]
"""Trials made of the right one, which is not changed; none where the task has no room for the kind."""


def _replaced(turns: Turns, at: int, calls: list[Made]) -> Turns:
    return [calls if turn == at else list(own) for turn, own in enumerate(turns)]


def _each_call(turns: Turns) -> Iterator[tuple[int, int, Made]]:
    for at, turn in enumerate(turns):
        for place, call in enumerate(turn):
            yield at, place, call


def _as_listed(_: BfclConversation, turns: Turns) -> Iterator[Turns]:
    yield turns


def _moved_by_copying(_: BfclConversation, turns: Turns) -> Iterator[Turns]:
    for at, place, call in _each_call(turns):
        if call.name == "mv" and "." in str(call.arguments["source"]):
            two = [Made("cp", call.arguments), Made("rm", {"file_name": call.arguments["source"]})]
            yield _replaced(turns, at, [*turns[at][:place], *two, *turns[at][place + 1 :]])


def _there_and_back(_: BfclConversation, turns: Turns) -> Iterator[Turns]:
    for at, place, call in _each_call(turns):
        folder = str(call.arguments.get("folder", "."))
        if call.name == "cd" and folder.strip("./") == folder:
            way = [call, Made("cd", {"folder": ".."}), call]
            yield _replaced(turns, at, [*turns[at][:place], *way, *turns[at][place + 1 :]])


def _after_an_error(_: BfclConversation, turns: Turns) -> Iterator[Turns]:
    for at, turn in enumerate(turns):
        if turn:
            yield _replaced(turns, at, [Made("no_such_function", {}, is_carried_out=False), *turn])
            yield _replaced(turns, at, [Made(turn[0].name, {"no_such_parameter": 1}), *turn])


def _looks_around(conversation: BfclConversation, turns: Turns) -> Iterator[Turns]:
    names = {function["name"] for function in conversation.turns[0].functions}
    for name in sorted(names & {"ls", "pwd", "displayCarStatus", "get_watchlist", "list_users", "list_all_airports"}):
        arguments = {"option": "fuel"} if name == "displayCarStatus" else {}
        for at, turn in enumerate(turns):
            if turn:
                yield _replaced(turns, at, [Made(name, arguments), *turn])


def _whole_as_float(_: BfclConversation, turns: Turns) -> Iterator[Turns]:
    for at, place, call in _each_call(turns):
        whole = {name: float(value) for name, value in call.arguments.items() if type(value) is int}
        if whole and call.name in ("mean", "estimate_distance", "fund_account", "withdraw_funds", "fillFuelTank"):
            calls = [*turns[at]]
            calls[place] = Made(call.name, {**call.arguments, **whole})
            yield _replaced(turns, at, calls)


def _nothing_in_a_turn(conversation: BfclConversation, turns: Turns) -> Iterator[Turns]:
    goals = wanted(conversation)
    for at, turn in enumerate(turns):
        before = goals[at - 1].state if at else None
        if turn and before is not None and goals[at].state != before:
            yield _replaced(turns, at, [])


def _needless_look(conversation: BfclConversation, turns: Turns) -> Iterator[Turns]:
    names = {function["name"] for function in conversation.turns[0].functions}
    for at, turn in enumerate(turns):
        if not turn:
            for name in sorted(names & {"ls", "get_watchlist", "list_users", "list_all_airports"}):
                yield _replaced(turns, at, [Made(name, {})])


def _before_it_can_be(_: BfclConversation, turns: Turns) -> Iterator[Turns]:
    for at, turn in enumerate(turns[:-1]):
        if not turn and turns[at + 1]:
            yield _replaced(turns, at, turns[at + 1])


def _once_more(_: BfclConversation, turns: Turns) -> Iterator[Turns]:
    """A call that changes something each time."""
    each_time = (
        "post_tweet",
        "comment",
        "fund_account",
        "withdraw_funds",
        "place_order",
        "create_ticket",
        "send_message",
    )
    for at, place, call in _each_call(turns):
        if call.name in each_time:
            yield _replaced(turns, at, [*turns[at][: place + 1], call, *turns[at][place + 1 :]])


def _asked_a_turn_earlier(conversation: BfclConversation, turns: Turns) -> Iterator[Turns]:
    """A turn that only asks, and has its answer already."""
    goals = wanted(conversation)
    for at, turn in enumerate(turns):
        asked = {each.name for each in goals[at].findings if not each.is_drawn}
        if at and turn and turns[at - 1] and all(call.name in asked for call in turn):
            yield _replaced(_replaced(turns, at - 1, [*turns[at - 1], *turn]), at, [])


def _not_found_out(conversation: BfclConversation, turns: Turns) -> Iterator[Turns]:
    """What is to be found out in a turn, and does not come up otherwise, is not asked for."""
    known, world = list[str](), conversation.world()
    for at, (turn, goal) in enumerate(zip(turns, wanted(conversation), strict=True)):
        brought = [(call, world.call(call.name, (), call.arguments).text) for call in turn]
        asked = {each.name for each in goal.findings if not each.is_drawn}
        left = [call for call, _ in brought if call.name not in asked]
        otherwise = {*known, *(text for call, text in brought if call.name not in asked)}
        if left and any(call.name in asked and text not in otherwise for call, text in brought):
            yield _replaced(turns, at, left)
        known += [text for _, text in brought]


RIGHT: dict[str, Kind] = {
    "as listed": _as_listed,
    "a file is copied and the old one removed, instead of moved": _moved_by_copying,
    "a folder is left and entered once more": _there_and_back,
    "a call that fails comes first": _after_an_error,
    "a call that changes nothing comes first": _looks_around,
    "a whole number as 5.0": _whole_as_float,
    "a turn that only asks has its answer from the turn before": _asked_a_turn_earlier,
}
WRONG: dict[str, Kind] = {
    "no call in a turn that changes something": _nothing_in_a_turn,
    "what is to be found out is not asked for": _not_found_out,
    "a call where nothing can be done yet": _needless_look,
    "the right calls, before they can be right, and again": _before_it_can_be,
    "something is done twice": _once_more,
}


def main(wheel: Path) -> int:
    """Prints the tables."""
    data = BfclData(wheel)
    tasks = [each for category in CONVERSATIONS.values() for each in conversations(data, category)]
    good = [each for each in tasks if is_valid(each)]
    print(f"{len(tasks)} tasks, {len(tasks) - len(good)} of them left out.\n")
    is_as_expected = True
    for title, kinds, expected in (("right", RIGHT, True), ("wrong", WRONG, False)):
        print(f"| {title} | trials | `official` accepts | `strict` accepts |\n|---|---|---|---|")
        for name, kind in kinds.items():
            counts = _counts(good, kind, expected=expected)
            is_as_expected &= counts["strict"] == (counts["all"] if expected else 0) and counts["all"] > 0
            print(f"| {name} | {counts['all']:,} | {counts['official']:,} | {counts['strict']:,} |")
        print()
    _print_crossed(good)
    return 0 if is_as_expected else 1


def _counts(tasks: list[BfclConversation], kind: Kind, *, expected: bool) -> Counter[str]:
    counts = Counter[str]()
    for each in tasks:
        for turns in kind(each, right_calls(each)):
            mistake = strict.check(each, turns)
            counts["all"] += 1
            counts["strict"] += mistake is None
            counts["official"] += official.check(each, [_replies(turn) for turn in turns]) is None
            if "--show" in sys.argv and (mistake is None) != expected:
                print(each.id, mistake, turns)
    return counts


def _print_crossed(tasks: list[BfclConversation]) -> None:
    mutations, counts = ConversationMutations(SEED, tasks), Counter[tuple[str, str]]()
    for each, _ in zip(cycle(tasks), range(CHANGED_TRIALS), strict=False):
        turns, _ = mutations.changed(each)
        mistakes = official.check(each, turns), strict.check(each, _made(each, turns))
        theirs, ours = ("right" if found is None else found.reason.partition(": ")[0] for found in mistakes)
        counts[theirs, ours] += 1
    print("| `official` | `strict` | changed trials |\n|---|---|---|")
    for (theirs, ours), number in counts.most_common():
        print(f"| {theirs} | {ours} | {number:,} |")


def _made(each: BfclConversation, turns: list[list[list[str]]]) -> Turns:
    world = each.world()

    def made(text: str) -> Made:
        try:
            call = read_call(text)
            return Made(call.name, world.arguments(*call))
        except (DecodingError, KeyError, TypeError):
            return Made("", {}, is_carried_out=False)

    return [[made(text) for reply in replies for text in reply] for replies in turns]


def right_calls(each: BfclConversation) -> Turns:
    """The right calls, with their arguments by name."""
    world = each.world()
    written = [[read_call(text) for text in turn.calls] for turn in each.turns]
    return [[Made(call.name, world.arguments(*call)) for call in turn] for turn in written]


def _replies(turn: list[Made]) -> list[list[str]]:
    return [[write_call(call.name, call.arguments)] for call in turn]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
