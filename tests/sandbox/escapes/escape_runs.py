"""All attempts in one host, run in a process of its own, and what came of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from escape_snippets import KINDS, Attempt, Kind

ORDINARY_USER: Final = 54321
"""A number that no account has; where root runs the attempts, they are tried by this user too."""

KINDS_BY_USER: Final[tuple[Kind, ...]] = ("file", "process", "kernel", "network", "env", "proc", "metadata")
"""Those in which it makes a difference who started the host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What came of all attempts with one host.

    Attributes:
        results: By the attempts' names: `fired`, the oracles that tell of a way out, and `ended`, how its runs ended.
        trouble: What the host's process said, where it ended early.
    """

    host: str
    results: dict[str, dict[str, Any]]
    trouble: str

    def succeeded(self, attempt: Attempt) -> bool:
        """Whether the oracle of the attempt tells that it got out."""
        return attempt.oracle in self.results.get(attempt.name, {}).get("fired", [])

    def escaped(self, attempt: Attempt) -> bool:
        """Whether any oracle tells so, but for what the tier says that it does not keep code from."""
        if attempt.name not in self.results:
            return True  # the host's process ended
        known = {attempt.oracle} if self.host in attempt.known else set[str]()
        return bool(set(self.results[attempt.name]["fired"]) - known)

    def told(self, attempt: Attempt) -> str:
        """What is known, for a person."""
        return str(self.results.get(attempt.name, f"no result: {self.trouble}"))


def users_here() -> tuple[int, ...]:
    """Who can run the attempts on this machine: root and an ordinary user, or the present one."""
    return (0, ORDINARY_USER) if os.geteuid() == 0 else (os.geteuid(),)


def run_of(host: str, user: int, kinds: Sequence[Kind] = KINDS, *, half: int | None = None) -> Run:
    """All attempts of the kinds, tried by that user.

    Args:
        host: `control`, or the name of a tier.
        kinds: Which.
        half: Only one half of them, the first (0) or the second (1) (`every_second`).
    """
    script = Path(__file__).parent / "escape_hosts.py"
    finished = subprocess.run(
        [sys.executable, str(script), host, "--user", str(user), "--kinds", ",".join(kinds), *_half(half)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [json.loads(line) for line in finished.stdout.splitlines() if line.startswith("{")]
    results = {line["name"]: line for line in lines if "name" in line}
    trouble = f"exit status {finished.returncode}: {finished.stderr[-2000:]}" if finished.returncode else ""
    return Run(host=host, results=results, trouble=trouble)


def _half(half: int | None) -> tuple[str, ...]:
    return () if half is None else ("--half", str(half))
