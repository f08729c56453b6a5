"""Where skills are run: a sandbox that is open, in which one is tried after the other, or runs for a model.

Deliberately not here: which skills there are (`skills`), and how one becomes a tool (`skill_tools`).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio
from msgspec.structs import replace

from wieldy.run.actions.code.skills.trial import check_skill, tried
from wieldy.sandbox import SandboxLimits
from wieldy.sandbox import open as open_sandbox

if TYPE_CHECKING:
    from wieldy.agent.code_rules import CodeRules
    from wieldy.run.actions.code.interpreter import Interpreter
    from wieldy.run.actions.code.skills.skill import RecordedCall, Skill


@dataclass(frozen=True, slots=True, kw_only=True)
class Workshop:
    """A sandbox in which one skill after the other is run."""

    interpreter: Interpreter
    limits: SandboxLimits
    lock: anyio.Lock

    async def check(self, skill: Skill) -> None:
        """As `check_skill`."""
        async with self.lock:
            await check_skill(skill, self.interpreter, self.limits)

    async def with_example(self, skill: Skill, pool: Iterable[RecordedCall]) -> Skill:
        """The skill with an example of what its function asks for and returns, answered from these calls.

        Raises:
            SkillError: As `tried`.
        """
        async with self.lock:
            trial = await tried(skill, self.interpreter, self.limits, pool=pool)
        return replace(skill, example=replace(skill.example, calls=trial.used, value=trial.value))


@asynccontextmanager
async def workshop(rules: CodeRules) -> AsyncGenerator[Workshop]:
    """A sandbox for skills is open.

    Raises:
        UsageError: It does not work here.
    """
    limits = rules.limits or SandboxLimits()
    async with open_sandbox(
        rules.tier, limits=limits, packages=rules.packages, python=rules.python, image=rules.image
    ) as session:
        yield Workshop(interpreter=session, limits=limits, lock=anyio.Lock())
