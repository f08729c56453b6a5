"""Laws of the schedule: what comes out is what a serial run gives, and nobody waits in vain."""

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.core.calls import Effect
from wieldy.run.scheduler import Access, access_of, schedule
from wieldy.tools import tool

KEYS = (
    "a",
    "a/b",
    "a/b/c",
    "a/d",
    "b",
    "b/c",
    "/a//b/",
    "a/../b",
    "k:1",
    "k:./1",
    "k:",
    "k:1/x",
    "k:../1",
    "caf\u00e9",
)
EFFECTS: tuple[Effect, ...] = ("read", "idempotent", "keyed", "reconcile", "unsafe")

keys = st.lists(st.sampled_from(KEYS), max_size=3, unique=True).map(tuple)
accesses = st.builds(Access, effect=st.sampled_from(EFFECTS), reads=keys, writes=keys)
honest_reads = st.builds(Access, effect=st.just("read"), reads=keys, writes=st.just(()))
changes = st.builds(
    Access, effect=st.sampled_from([each for each in EFFECTS if each != "read"]), reads=keys, writes=keys
)
honest_accesses = honest_reads | changes
turns = st.lists(honest_accesses, max_size=12)


PLACES = {
    "/a//b/": "a/b",
    "a/../b": "",
    "k:1": "k:/1",
    "k:./1": "k:/1",
    "k:1/x": "k:/1/x",
    "k:../1": "k:",
}
"""What the keys that are not plain mean."""


def covers(key: str, other: str) -> bool:
    """Whether one of the two keys is the other or stands above it, told by text alone."""
    one, two = (f"/{place}/" if (place := PLACES.get(each, each)) else "/" for each in (key, other))
    return one.startswith(two) or two.startswith(one)


def conflict(first: Access, second: Access) -> bool:
    """The specification of the schedule, pair by pair."""
    if first.is_exclusive or second.is_exclusive:
        return True
    pairs = [
        *((write, key) for write in first.writes for key in (*second.reads, *second.writes)),
        *((key, write) for key in first.reads for write in second.writes),
    ]
    return any(covers(key, other) for key, other in pairs)


def closure(waits: Sequence[Sequence[int]]) -> list[set[int]]:
    """For each call all that has ended when it starts."""
    before: list[set[int]] = []
    for earlier in waits:
        before.append(set(earlier).union(*(before[index] for index in earlier)))
    return before


@given(turns)
def test_no_call_waits_for_itself_or_for_a_later_one(turn: list[Access]) -> None:
    for index, earlier in enumerate(schedule(turn)):
        assert all(0 <= other < index for other in earlier)
        assert list(earlier) == sorted(set(earlier))


@given(turns)
def test_two_calls_are_ordered_if_their_order_can_be_noticed(turn: list[Access]) -> None:
    before = closure(schedule(turn))
    for later in range(len(turn)):
        for earlier in range(later):
            if conflict(turn[earlier], turn[later]):
                assert earlier in before[later]


@given(turns)
def test_a_call_waits_only_where_a_chain_of_conflicts_makes_it(turn: list[Access]) -> None:
    before = closure(schedule(turn))
    needed = closure(
        [[other for other in range(index) if conflict(turn[other], turn[index])] for index in range(len(turn))]
    )
    assert before == needed


@given(st.lists(honest_reads, max_size=12))
def test_readers_never_wait_for_readers(turn: list[Access]) -> None:
    assert schedule(turn) == ((),) * len(turn)


@given(turns, st.randoms(use_true_random=False))
def test_any_run_that_keeps_the_schedule_ends_as_the_serial_run(turn: list[Access], random: Random) -> None:
    waits = schedule(turn)
    pending, order = set(range(len(turn))), list[int]()
    while pending:
        free = sorted(index for index in pending if not pending.intersection(waits[index]))
        assert free, "a deadlock"
        order.append(random.choice(free))
        pending.remove(order[-1])
    assert outcome(turn, order) == outcome(turn, range(len(turn)))


def outcome(turn: list[Access], order: Sequence[int]) -> tuple[dict[str, object], dict[int, object]]:
    """A world of leaves: a call sees those under its keys, and stamps those that it writes with all that it saw."""
    leaves = ("a/b/c", "a/d", "b/c", "k:1/x", "k:2", "caf\u00e9", "elsewhere")
    world: dict[str, object] = dict.fromkeys(leaves, 0)
    seen: dict[int, object] = {}
    for index in order:
        access = turn[index]
        reads, writes = (leaves, leaves) if access.is_exclusive else (access.reads + access.writes, access.writes)
        seen[index] = hash((index, *(world[leaf] for leaf in leaves if any(covers(key, leaf) for key in reads))))
        for leaf in leaves:
            if any(covers(key, leaf) for key in writes):
                world[leaf] = hash((seen[index], world[leaf]))
    return world, seen


def test_a_read_without_keys_waits_for_nothing_but_what_may_write_anything() -> None:
    anything, reader = Access(effect="unsafe"), Access(effect="read")
    writer = Access(effect="keyed", writes=("a",))
    assert schedule([writer, reader, anything, reader]) == ((), (), (0, 1), (2,))


def test_a_key_is_a_path_of_whole_parts() -> None:
    writes = [Access(effect="unsafe", writes=(key,)) for key in ("order:1", "order:10", "order:1/lines")]
    assert schedule(writes) == ((), (), (0,))


def test_an_empty_key_stands_for_everything_that_has_a_key() -> None:
    writer, reader = Access(effect="unsafe", writes=("",)), Access(effect="read", reads=("a/b",))
    assert schedule([reader, writer, reader]) == ((), (0,), (1,))


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("a/b", "a//b/", True),
        ("file:notes.txt", "file:./notes.txt", True),
        ("file:a/b", "file:a/./b/", True),
        ("cafe\u0301", "caf\u00e9", True),
        ("file:../x", "file:x", True),  # may be the same, so it is taken for the same
        ("file:../x", "mail:x", False),
        ("order:", "order:17", True),
        ("order:1", "order:17", False),
        ("a/b:c", "a/b:d", False),
        ("a/b:c/../x", "a/y", True),
        ("a/b:c/../x", "b/y", False),
        ("Mail", "mail", False),
        ("a.b", "a/b", False),
        ("..", "anything", True),
        (".", "anything", True),
    ],
)
def test_what_is_plainly_the_same_spelt_twice_is_one_key(one: str, other: str, is_same: bool) -> None:
    waits = schedule([Access(effect="unsafe", writes=(key,)) for key in (one, other)])
    assert waits == ((), (0,) if is_same else ())


@tool(effect="read", reads=["shop:{name}"], fallback="second")
def first(name: str) -> str:
    """Reads."""
    return name


@tool(effect="keyed", writes=["copy:{name}"])
def second(name: str) -> str:
    """Reads, and remembers."""
    return name


def test_a_call_touches_what_its_fallback_would_touch_too() -> None:
    assert access_of(first, {"name": "x"}) == Access(effect="read", reads=("shop:x",))
    assert access_of(first, {"name": "x"}, fallback=second) == Access(
        effect="keyed", reads=("shop:x",), writes=("copy:x",)
    )
    anything = tool(lambda name: name, name="anything")
    for own, fallback in ((first, anything), (second, anything), (anything, first)):
        assert access_of(own, {"name": "x"}, fallback=fallback).is_exclusive


def test_a_thousand_calls_with_keys_wait_for_no_more_than_they_must() -> None:
    same = schedule([Access(effect="keyed", reads=("a",), writes=("a",))] * 1000)
    assert same == ((), *((index,) for index in range(999)))
    apart = schedule([Access(effect="keyed", writes=(f"a/{index}",)) for index in range(1000)])
    assert apart == ((),) * 1000
    above = schedule(
        [Access(effect="read", reads=(f"a/{index}",)) for index in range(999)]
        + [Access(effect="keyed", writes=("a",))] * 2
    )
    assert above[-2:] == (tuple(range(999)), (999,))


def test_many_calls_without_keys_are_ordered_at_a_cost_that_is_linear() -> None:
    waits = schedule([Access(effect="unsafe")] * 5000)
    assert waits[-1] == (4998,)
    assert sum(map(len, waits)) == 4999
