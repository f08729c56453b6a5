"""Tries to get out of each tier that works here, and prints how often that succeeded, by kinds, as Markdown.

    python scripts/evidence_escapes.py [TIER ...]

Without tiers the jails; for `podman` an image is made of this machine's own Python. The attempts are those of
`tests/sandbox/escapes`. An attempt counts if it gets out where nothing isolates; a minute or two for each column, ten
for containers. Exit 1 if an attempt gets out of a tier that does not say so.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "sandbox" / "escapes"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "sandbox" / "tiers"))

import container_images
from escape_runs import Run, run_of, users_here
from escape_snippets import KINDS, Attempt, all_attempts

TIERS = ("jail-ns", "jail")


def main() -> int:
    """Prints the table, and what got out."""
    tiers = sys.argv[1:] or TIERS
    with _engine(tiers):
        return _compared(tiers)


@contextmanager
def _engine(tiers: Iterable[str]) -> Iterator[None]:
    """Podman has an image, if that is asked for."""
    if "podman" not in tiers:
        yield
        return
    directory = Path(tempfile.mkdtemp(prefix="wieldy-podman-"))
    try:
        podman = container_images.prepared(directory)
        if podman.reason:
            sys.exit(f"podman: {podman.reason}")
        os.environ.update(podman.environment)
        yield
    finally:
        container_images.remove(directory)


def _compared(tiers: Iterable[str]) -> int:
    attempts = all_attempts()
    control = run_of("control", users_here()[-1])
    counted = [attempt for attempt in attempts if control.succeeded(attempt)]
    runs = {f"{tier}, {_name(user)}": run_of(tier, user) for tier in tiers for user in _users_of(tier)}
    runs = {name: run for name, run in runs.items() if run.results}
    print(f"{len(counted)} of {len(attempts)} attempts succeed where nothing isolates, and count.\n")
    print("| kind | attempts |", " | ".join(runs), "|")
    print("|---|---|" + "---|" * len(runs))
    for kind in KINDS:
        of_kind = [attempt for attempt in counted if attempt.kind == kind]
        print(f"| {kind} | {len(of_kind)} |", " | ".join(_told(run, of_kind) for run in runs.values()), "|")
    print(f"| all | {len(counted)} |", " | ".join(_told(run, counted) for run in runs.values()), "|\n")
    for attempt in attempts:
        if attempt not in counted:
            print(f"Does not count here: {attempt.name}")
    out = [(name, attempt) for name, run in runs.items() for attempt in attempts if run.escaped(attempt)]
    for name, attempt in out:
        print(f"Got out of {name}: {attempt.name}: {runs[name].told(attempt)}")
    return 1 if out else 0


def _users_of(tier: str) -> tuple[int, ...]:
    return (os.geteuid(),) if tier == "podman" else users_here()


def _name(user: int) -> str:
    return "started by root" if user == 0 else "started by a user"


def _told(run: Run, attempts: Iterable[Attempt]) -> str:
    """How many got out, and how many more did what the tier says that it does not keep code from."""
    out = sum(run.escaped(attempt) for attempt in attempts)
    known = sum(run.succeeded(attempt) and not run.escaped(attempt) for attempt in attempts)
    return f"{out} (and {known} known)" if known else str(out)


if __name__ == "__main__":
    sys.exit(main())
