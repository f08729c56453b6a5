"""Tries all attempts in one host and writes what came of each, a JSON object a line; a process of its own.

    python tests/sandbox/escapes/escape_hosts.py jail-ns --user 54321

The host is `control`, or a tier; `--user` is the ordinary user that it becomes, where root starts it. An attempt that
ends this process is the last in its output, without a result.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import select
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

import anyio
import escape_processes as processes
import escape_unlocked
from escape_oracles import BRIEF, HOST_GROWTH_BYTES, LIMITS, PATIENCE_S, Trial, fired
from escape_snippets import KINDS, Attempt, all_attempts, every_second, prelude
from escape_targets import Targets
from escape_trusting import run_trusting

from wieldy import SandboxTierError, sandbox
from wieldy.sandbox import Artifact, CodeError, GuestCall, Outcome, SandboxLimits, Session, Tier
from wieldy.sandbox.containers import USER
from wieldy.sandbox.jail import JailedWorkers
from wieldy.sandbox.options import Opened

NOBODY: Final = 65534
IMAGE: Final = "localhost/wieldy-own-python:latest"
"""Of containers: what `container_images` makes."""
_SECRET: Final = "WIELDY_SECRET"
_CHANNEL, _TRUSTING_CHANNEL = 3, 100
_PROCESSES: Final = {"unlocked": 3, "jail": 3, "jail-ns": 4, "podman": 4}
"""Of a session: the interpreter, which in a namespace has another before it, a worker, and one for the next start. Of
containers, each of which has two, only those are counted that run as the containers' user: the engine has its own."""
_SETTLED_S: Final = 10.0
_SHORT_S: Final = 0.5
_MOMENT_S: Final = 0.01
_OVERRUN_S: Final = 0.2  # code that has not ended by then is taken for endless, which all of it is
_PYTHONS: Final = (sys.executable, "/usr/bin/python3")


class Supervised:
    """Attempts in a session, isolated or not."""

    def __init__(self, session: Session, brief: Session, targets: Targets) -> None:
        self._session = session
        self._brief = brief
        self._targets = targets
        self._trial = Trial(secret=targets.secret)
        self._has_ended = False
        self._most = 0
        self._own: set[int] = set()
        self._is_container = session.tier.name == "podman"

    async def begin(self) -> None:
        """What is there without an attempt is known."""
        for session in (self._session, self._brief):
            await session.run("1")
            await session.run("1", fresh=True)
        sessions = {self._session, self._brief}
        engine = 0 if self._is_container else 1
        self._most = engine + len(sessions) * _PROCESSES[self._session.tier.name]
        with anyio.fail_after(PATIENCE_S):
            while self._extra(exactly=True):  # noqa: ASYNC110 - nobody tells when a process is gone
                await anyio.sleep(0.01)
        self._own = set(processes.children(os.getpid())) - {self._targets.victim_pid}

    async def attempt(self, attempt: Attempt) -> Trial:
        """What is known of it afterwards."""
        self._targets.reset()
        self._trial = trial = Trial(secret=self._targets.secret)
        self._has_ended = False
        descriptors = _open_descriptors()
        processes.forget_peak()
        memory = processes.memory(os.getpid())
        with anyio.move_on_after(PATIENCE_S) as scope:
            try:
                await self._run(attempt)
            except Exception as error:  # nothing that code does may raise here
                trial.raised = repr(error)
        trial.overran = scope.cancelled_caught
        self._has_ended = True
        trial.growth_bytes = processes.memory(os.getpid(), "VmHWM") - memory
        is_unlocked = self._session.tier.name == "unlocked"
        await self._settle(_SHORT_S if is_unlocked else _SETTLED_S, is_long=attempt.oracle == "busy")
        if is_unlocked:
            self._end_left()
        trial.descriptors = _open_descriptors() - descriptors
        trial.contacted, trial.touched = self._targets.contacts(), self._targets.victim_was_touched()
        trial.changed = self._targets.changed_files()
        return trial

    async def _run(self, attempt: Attempt) -> None:
        session = self._brief if attempt.oracle in {"overran", "busy"} else self._session
        given = prelude({**self._targets.given(), "CHANNEL": _CHANNEL, "LIMIT": LIMITS.files_bytes}, attempt.code)
        for code in (attempt.code, attempt.then):
            if code is not None:
                outcome = await session.run(code, call=self._answer, prelude=given, fresh=True)
                self._trial.outcomes.append(outcome)
        if self._trial.outcomes[-1].status == "killed":
            works = await session.run("20 + 1", fresh=True)
            if works.value != 21:
                raise AssertionError(f"the sandbox does not work any more: {works}")

    async def _answer(self, call: GuestCall) -> Any:
        self._trial.calls.append(call)
        self._trial.late_calls += self._has_ended
        if call.name == "look":
            await self._look()
        if call.name == "never":
            await anyio.sleep_forever()
        return answer(call.name, self._targets.secret)

    async def _look(self) -> None:
        """Counts processes while an attempt waits; those of earlier ones may take a moment to be gone."""
        for _ in range(50):
            self._trial.extra_processes = self._extra()
            if not self._trial.extra_processes:
                return
            await anyio.sleep(0.01)

    def _extra(self, *, exactly: bool = False) -> int:
        extra = processes.threads(self._counted()) - self._most
        return extra if exactly else max(extra, 0)

    def _counted(self) -> list[int]:
        below = processes.below(os.getpid())
        return [pid for pid in below if processes.user_of(pid) == USER] if self._is_container else below

    def _end_left(self) -> None:
        """Ends what an attempt started where nothing isolates: what is below a worker, or has lost its parent."""
        left = set(processes.children(os.getpid())) - self._own - {self._targets.victim_pid}
        for server in self._own:
            for worker in processes.children(server):
                left.update(processes.below(worker))
        processes.end(sorted(left))

    async def _settle(self, within_s: float, *, is_long: bool) -> None:
        """Waits until nothing is left behind, and nothing computes; or it is known that it will not come to that."""
        until = time.monotonic() + within_s
        left, is_quiet = 1, False
        while (left or not is_quiet) and time.monotonic() < until:
            left = self._extra()
            is_quiet = processes.are_quiet(self._counted(), for_s=_SHORT_S if is_long else _MOMENT_S)
        self._trial.extra_processes = max(self._trial.extra_processes, left)
        self._trial.is_busy = not is_quiet


def answer(name: str, secret: str) -> Any:
    """What the host answers a call of that name."""
    if name == "fail":
        raise RuntimeError(f"no connection with password {secret}")
    if name == "odd":
        return {1, 2, secret}
    return "x" * 1_000_000 if name == "large" else name


def trusting_attempt(attempt: Attempt, targets: Targets) -> Trial:
    """The attempt with a host that believes it, in a process of its own."""
    targets.reset()
    trial = Trial(secret=targets.secret)
    given = {"secret": targets.secret, "scratch": str(targets.scratch), "canary": str(targets.outside / "canary")}
    given_names = {**targets.given(), "CHANNEL": _TRUSTING_CHANNEL, "LIMIT": LIMITS.files_bytes}
    named = prelude(given_names, attempt.code)
    codes = [named + code for code in (attempt.code, attempt.then) if code is not None]
    report, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(report)
        try:
            run_trusting(codes, given, theirs, lambda call: _answer_trusting(call, targets.secret))
        finally:
            os._exit(1)
    os.close(theirs)
    memory, descriptors = processes.memory(child), _descriptors_of(child)
    within_s = _OVERRUN_S if attempt.oracle == "overran" else PATIENCE_S
    is_memory = attempt.oracle == "host memory"
    content = _read_until(
        report, within_s, lambda: is_memory and processes.memory(child, "VmHWM") - memory > HOST_GROWTH_BYTES
    )
    os.close(report)
    trial.overran = content is None
    trial.has_died = content == b""
    trial.growth_bytes = processes.memory(child, "VmHWM") - memory
    trial.descriptors = _descriptors_of(child) - descriptors - 8  # its own: channel, pipe, the file that it has open
    if attempt.oracle == "busy":
        time.sleep(_SHORT_S)
        trial.is_busy = not processes.are_quiet([child], for_s=_SHORT_S)
    trial.extra_processes = len(processes.below(child))
    processes.end([*processes.below(child), child])
    if content:
        _fill_in(trial, json.loads(content))
    trial.contacted, trial.touched = targets.contacts(), targets.victim_was_touched()
    trial.changed = targets.changed_files()
    return trial


def _answer_trusting(call: dict[str, Any], secret: str) -> Any:
    try:
        return answer(call["name"], secret)
    except RuntimeError as error:
        return str(error)


def _read_until(descriptor: int, within_s: float, is_enough: Callable[[], bool]) -> bytes | None:
    """All that is written there, or None if its end does not come in time, or enough is known without."""
    content = bytearray()
    until = time.monotonic() + within_s
    while time.monotonic() < until and not is_enough():
        if not select.select([descriptor], [], [], 0.05)[0]:
            continue
        piece = os.read(descriptor, 1 << 20)
        if not piece:
            return bytes(content)
        content += piece
    return None


def _fill_in(trial: Trial, said: dict[str, Any]) -> None:
    import base64

    for outcome in said["outcomes"]:
        error = outcome.pop("error")
        artifacts = tuple(
            Artifact(name=name, media_type="", content=base64.b64decode(data))
            for name, data in outcome.pop("artifacts")
        )
        described = CodeError(line=None, **error) if error else None
        trial.outcomes.append(Outcome(status="done", error=described, artifacts=artifacts, **outcome))
    trial.calls = [GuestCall(seq=c.get("seq"), name=c.get("name"), arguments=c.get("arguments")) for c in said["calls"]]
    trial.raised, trial.late_calls = said["raised"], said["late"]


def _open_descriptors() -> int:
    return _descriptors_of(os.getpid())


def _descriptors_of(pid: int) -> int:
    with suppress(OSError):
        return len(list(Path(f"/proc/{pid}/fd").iterdir()))
    return 0


@asynccontextmanager
async def opened(tier: str) -> AsyncIterator[tuple[Session, Session]]:
    """Two sessions of the tier, the second with little time, with the first interpreter that everybody may read."""
    options: dict[str, Any] = {"image": IMAGE}
    for python in () if tier == "podman" else _PYTHONS:
        options = {"python": python}
        with suppress(SandboxTierError):
            async with sandbox.open(tier, limits=LIMITS, **options):
                break
    async with (
        sandbox.open(tier, limits=LIMITS, **options) as session,
        sandbox.open(tier, limits=BRIEF, **options) as brief,
    ):
        yield session, brief


@asynccontextmanager
async def unlocked(targets: Targets) -> AsyncIterator[tuple[Session, Session]]:
    """A session whose workers are not isolated, twice."""
    python = next(each for each in _PYTHONS if os.access(each, os.X_OK))
    running = escape_unlocked.start(python, targets.scratch)
    await running.begin(escape_unlocked.settings())
    limits = SandboxLimits(wall_s=PATIENCE_S, memory_bytes=1 << 30)
    workers = Opened(workers=JailedWorkers(running), notes=())
    session = Session(Tier(name="unlocked", works=True, isolates=(), leaves=()), workers, limits)
    try:
        yield session, session
    finally:
        await session.close()


async def try_all(host: str, attempts: Sequence[Attempt], targets: Targets) -> None:
    """Prints each attempt's name, then what came of it."""
    async with unlocked(targets) if host == "control" else opened(host) as (session, brief):
        supervised = Supervised(session, brief, targets)
        await supervised.begin()
        for attempt in attempts:
            _write({"begins": attempt.name})
            if host == "control" and attempt.control == "trusting":
                trial = trusting_attempt(attempt, targets)
            else:
                trial = await supervised.attempt(attempt)
            _write({"name": attempt.name, "fired": fired(trial), "ended": list(_endings(trial))})


def _write(line: dict[str, Any]) -> None:
    sys.stdout.write(f"{json.dumps(line)}\n")
    sys.stdout.flush()


def _endings(trial: Trial) -> Iterator[str]:
    if trial.raised:
        yield f"raised {trial.raised}"
    for outcome in trial.outcomes:
        error = outcome.error and f"{outcome.error.type}: {outcome.error.message}"
        yield f"{outcome.status} {outcome.killed_because or error or ''} {outcome.value_repr or ''}".strip()


async def _warm_up() -> None:
    "idna ascii".encode("idna")
    with suppress(SandboxTierError):
        async with opened("jail-ns") as (session, _):
            await session.run("raise ValueError('\\x1b')")


def become(user: int) -> None:
    """This process is that user's, if root started it; what it needs of root's own library is loaded before."""
    if user and os.geteuid() == 0:
        anyio.run(_warm_up)
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("host", choices=("control", "jail-ns", "jail", "podman"))
    parser.add_argument("--user", type=int, default=0)
    parser.add_argument("--only", default="", help="attempts whose name holds this")
    parser.add_argument("--kinds", default=",".join(KINDS), help="of these kinds")
    parser.add_argument("--half", type=int, choices=(0, 1), help="of each kind every second one")
    options = parser.parse_args()
    if _SECRET not in os.environ:  # what a host's environment holds is there from its start
        secret = {_SECRET: f"secret-{secrets.token_hex(12)}"}
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **secret})
    attempts = all_attempts() if options.half is None else every_second(all_attempts(), options.half)
    attempts = [each for each in attempts if options.only in each.name and each.kind in options.kinds.split(",")]
    become(options.user)
    processes.become_reaper()
    with tempfile.TemporaryDirectory(prefix="wieldy-escapes-") as directory:
        Path(directory).chmod(0o755)
        victim_user = os.geteuid() or NOBODY
        with Targets(Path(directory), os.environ[_SECRET], victim_user=victim_user) as targets:
            targets.reset()
            anyio.run(try_all, options.host, attempts, targets)


if __name__ == "__main__":
    main()
