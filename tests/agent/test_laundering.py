"""Strangers' data decides no call that does harm, and is the target of none, whatever code does with it in between."""

from __future__ import annotations

import pytest
from laundering_programs import BENIGN, LAUNDERING, revealing
from laundering_runs import came_of

from wieldy.run.actions.code.levels import Level
from wieldy.run.policy import allow_all

LOOKING = {"after a branch", "after a loop", "after a try", "after a function", "a text that is built"}
"""Programs that look at what a stranger wrote."""

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("sandboxed")]


@pytest.mark.parametrize("level", ["run", "handles", "tracked"])
@pytest.mark.parametrize("name", LAUNDERING)
async def test_laundered_data_sends_nothing(name: str, level: Level) -> None:
    # Without `reveal`, code that works with handles cannot even try.
    program = revealing(LAUNDERING[name]) if level == "handles" else LAUNDERING[name]
    came = await came_of(level, program)
    assert came.sent == 0
    assert came.denied > 0


@pytest.mark.parametrize("name", LAUNDERING)
async def test_the_programs_send_where_nothing_forbids_it(name: str) -> None:
    assert (await came_of("tracked", LAUNDERING[name], policy=allow_all)).sent > 0


@pytest.mark.parametrize("name", LAUNDERING)
async def test_without_reveal_nothing_can_be_laundered_through_handles(name: str) -> None:
    assert (await came_of("handles", LAUNDERING[name])).sent == 0


@pytest.mark.parametrize(
    ("level", "allowed"),
    [
        ("run", {"trusted data decides", "a stranger's words are shown"}),
        ("handles", BENIGN.keys() - LOOKING),
        ("tracked", BENIGN.keys()),
    ],
)
async def test_what_each_level_lets_through_of_what_no_stranger_has_a_say_in(level: Level, allowed: set[str]) -> None:
    assert {name for name in BENIGN if (await came_of(level, BENIGN[name])).sent} == set(allowed)


@pytest.mark.parametrize("name", BENIGN)
async def test_tracked_code_may_do_what_no_stranger_has_a_say_in(name: str) -> None:
    came = await came_of("tracked", BENIGN[name])
    assert came.sent > 0
    assert came.denied == 0
