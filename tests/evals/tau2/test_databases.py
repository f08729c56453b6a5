"""Databases that share their entries behave like copies, and are alike exactly if all that is in them is."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from wieldy.evals.tau2.databases import Table, changes, fresh, shared


class Seat(BaseModel):
    price: int | float = 100
    taken_by: list[str] = []


class Database(BaseModel):
    seats: dict[str, Seat]
    notes: dict[str, str]
    queue: list[Seat]


KEYS = st.sampled_from(["a", "b", "c"])
CHANGES: dict[str, Callable[[Database, str], object]] = {
    "read": lambda database, key: database.seats.get(key),
    "through all": lambda database, key: [seat.price for seat in database.seats.values()],
    "price": lambda database, key: setattr(database.seats.setdefault(key, Seat()), "price", 200),
    "price as it was": lambda database, key: setattr(database.seats.setdefault(key, Seat()), "price", 100),
    "price in another type": lambda database, key: setattr(database.seats.setdefault(key, Seat()), "price", 100.0),
    "within": lambda database, key: [seat.taken_by.append(key) for _, seat in database.seats.items()],
    "new": lambda database, key: database.seats.__setitem__(key, Seat()),
    "many": lambda database, key: database.seats.update({key: Seat(price=5)}),
    "gone": lambda database, key: database.seats.pop(key, None),
    "deleted": lambda database, key: database.seats.__delitem__(key) if key in database.seats else None,
    "note": lambda database, key: database.notes.update({key: key}),
    "no note": lambda database, key: database.notes.pop(key, None),
    "queue": lambda database, key: database.queue.append(Seat(price=len(key))),
    "queued": lambda database, key: setattr(database.queue[0], "price", 7),
}
DONE = st.lists(st.tuples(st.sampled_from(sorted(CHANGES)), KEYS), max_size=6)


def first() -> Database:
    return Database(seats={"a": Seat(), "b": Seat(price=3, taken_by=["x"])}, notes={"a": "?"}, queue=[Seat()])


def all_of(database: Database) -> str:
    return json.dumps(database.model_dump(), sort_keys=True)


def after(database: Any, done: list[tuple[str, str]]) -> Any:
    for name, key in done:
        CHANGES[name](database, key)
    return database


@given(DONE, DONE)
def test_what_is_done_on_a_fresh_database_is_done_as_on_a_copy_and_nowhere_else(
    one: list[tuple[str, str]], other: list[tuple[str, str]]
) -> None:
    before = first()
    mine, yours = after(fresh(before), one), after(fresh(before), other)
    assert all_of(before) == all_of(first())
    assert all_of(mine) == all_of(after(deepcopy(before), one))
    assert (changes(mine, before) == changes(yours, before)) == (all_of(mine) == all_of(yours))
    # a database that others have written anew, as the benchmark does to begin a task
    written = Database.model_validate(mine.model_dump())
    assert changes(written, before) == changes(mine, before)


def test_only_entries_that_are_read_are_copied() -> None:
    before = first()
    database = fresh(before)
    assert isinstance(database.seats, Table)
    assert "a" in database.seats
    assert list(database.seats) == ["a", "b"]
    assert database.seats["a"] is database.seats["a"]
    assert [dict.get(database.seats, key) is before.seats[key] for key in "ab"] == [False, True]


@given(DONE)
def test_what_only_reads_sees_all_that_was_done_and_copies_nothing(done: list[tuple[str, str]]) -> None:
    before = first()
    database = after(fresh(before), done)
    seats = dict.copy(database.seats)
    assert all_of(shared(database)) == all_of(database)
    assert list(shared(database).seats.values()) == list(seats.values())
    assert all(dict.get(database.seats, key) is seat for key, seat in seats.items())


def test_databases_that_are_no_models_are_copied_whole() -> None:
    before = {"L1": {"is": "suspended"}}
    database = fresh(before)
    assert changes(database, before) == changes(fresh(before), before)
    database["L1"]["is"] = "active"
    assert before == {"L1": {"is": "suspended"}}
    assert changes(database, before) != changes(fresh(before), before)
