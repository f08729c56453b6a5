"""Strangers' data decides no call that does harm, and is the target of none, whatever code does with it in between."""

from __future__ import annotations

import pytest
from laundering_programs import BENIGN, LAUNDERING, Program, revealing
from laundering_runs import came_of

from wieldy.run.actions.code.levels import Level
from wieldy.run.policy import allow_all

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("sandboxed")]


def written_for(level: Level, program: Program) -> Program:
    return revealing(program) if level == "handles" else program


@pytest.mark.parametrize("level", ["run", "handles", "tracked"])
@pytest.mark.parametrize("name", LAUNDERING)
async def test_laundered_data_sends_nothing(name: str, level: Level) -> None:
    program = written_for(level, LAUNDERING[name])
    came = await came_of(level, program)
    assert came.sent == 0
    assert came.denied > 0


@pytest.mark.parametrize("name", LAUNDERING)
async def test_the_programs_send_where_nothing_forbids_it(name: str) -> None:
    assert (await came_of("tracked", LAUNDERING[name], policy=allow_all)).sent > 0


@pytest.mark.parametrize("name", LAUNDERING)
async def test_without_reveal_nothing_can_be_laundered_through_handles(name: str) -> None:
    assert (await came_of("handles", LAUNDERING[name])).sent == 0


@pytest.mark.parametrize("name", BENIGN)
async def test_tracked_code_may_do_what_no_stranger_has_a_say_in(name: str) -> None:
    came = await came_of("tracked", BENIGN[name])
    assert came.sent > 0
    assert came.denied == 0
