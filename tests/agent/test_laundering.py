"""Strangers' data decides no call that does harm, and is the target of none, whatever code does with it in between.

Where every program is held up in the same way, some are run here; `scripts/evidence_laundering.py` runs all of them at
each level.
"""

from __future__ import annotations

from itertools import product

import pytest
from laundering_programs import BENIGN, LAUNDERING, revealing
from laundering_runs import came_of

from wieldy.run.actions.code.levels import Level
from wieldy.run.policy import allow_all

LOOKING = {"after a branch", "after a loop", "after a try", "after a function", "a text that is built"}
"""Programs that look at what a stranger wrote."""

SOME = list(LAUNDERING)[::4]

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("sandboxed")]


@pytest.mark.parametrize(
    ("name", "level"), [*product(LAUNDERING, ("handles", "tracked")), *((name, "run") for name in SOME)]
)
async def test_laundered_data_sends_nothing(name: str, level: Level) -> None:
    # Without `reveal`, code that works with handles cannot even try.
    program = revealing(LAUNDERING[name]) if level == "handles" else LAUNDERING[name]
    came = await came_of(level, program)
    assert came.sent == 0
    assert came.denied > 0


@pytest.mark.parametrize("name", LAUNDERING)
async def test_the_programs_send_where_nothing_forbids_it(name: str) -> None:
    assert (await came_of("tracked", LAUNDERING[name], policy=allow_all)).sent > 0


@pytest.mark.parametrize("name", SOME)
async def test_without_reveal_nothing_can_be_laundered_through_handles(name: str) -> None:
    assert (await came_of("handles", LAUNDERING[name])).sent == 0


@pytest.mark.parametrize(
    ("level", "allowed"),
    [
        ("run", {"trusted data decides", "a stranger's words are shown"}),
        ("handles", BENIGN.keys() - LOOKING),
    ],
)
async def test_what_the_others_let_through_of_what_no_stranger_has_a_say_in(level: Level, allowed: set[str]) -> None:
    assert {name for name in BENIGN if (await came_of(level, BENIGN[name])).sent} == set(allowed)


@pytest.mark.parametrize("name", BENIGN)
async def test_tracked_code_may_do_what_no_stranger_has_a_say_in(name: str) -> None:
    came = await came_of("tracked", BENIGN[name])
    assert came.sent > 0
    assert came.denied == 0
