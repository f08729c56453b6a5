"""What is known of one attempt from outside, and the oracles: each tells one way of having got out.

Nothing here believes the code, but one thing: that it says of itself that the kernel served it (`claim`). An attempt
that lies about that only makes the sandbox look worse, and one that is broken is found by the control.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from wieldy.sandbox import GuestCall, Outcome, SandboxLimits
from wieldy.sandbox.texts import is_file_name, printed

HOST_GROWTH_BYTES: Final = 48 << 20

LIMITS: Final = SandboxLimits(
    wall_s=8,
    cpu_s=4,
    memory_bytes=96 << 20,
    output_bytes=4 << 20,
    kept_output_bytes=64 << 10,
    files_bytes=16 << 20,
    file_bytes=8 << 20,
    files=50,
    calls=150,
)
BRIEF: Final = replace(LIMITS, wall_s=1, cpu_s=0.05)
"""For attempts that would not end by themselves."""
PATIENCE_S: Final = 30.0
"""After this an attempt was not ended by its limits, however loaded the machine is."""


@dataclass(kw_only=True)
class Trial:
    """One attempt, as seen from outside.

    Attributes:
        outcomes: Of its runs, as the host tells them.
        raised: What broke in the host.
        has_died: Whether the host's process ended.
        overran: Whether it was not ended.
        calls: Those that the handler got; those after the end are late.
        extra_processes: Processes and threads, during the attempt or left behind, that should not be.
        is_busy: Whether something went on computing after the end.
        growth_bytes: Of the host's memory, at its highest.
        descriptors: How many more the host has open.
        contacted, touched, changed: Whether a listener, the process, the files outside were reached.
    """

    secret: str
    outcomes: list[Outcome] = field(default_factory=list)
    raised: str | None = None
    has_died: bool = False
    overran: bool = False
    calls: list[GuestCall] = field(default_factory=list)
    late_calls: int = 0
    extra_processes: int = 0
    is_busy: bool = False
    growth_bytes: int = 0
    descriptors: int = 0
    contacted: bool = False
    touched: bool = False
    changed: bool = False

    @property
    def texts(self) -> list[str]:
        """Texts of the outcomes that a person may be shown."""
        found: list[str] = []
        for outcome in self.outcomes:
            found += [outcome.stdout, outcome.stderr, outcome.value_repr or "", *outcome.remarks]
            found += [str(artifact.name) for artifact in outcome.artifacts]
            if outcome.error is not None:
                found += [outcome.error.type, outcome.error.message, outcome.error.traceback]
        return [str(text) for text in found]

    def says(self, word: str) -> bool:
        """Whether the word is in anything that came out."""
        contents = [artifact.content.decode(errors="replace") for o in self.outcomes for artifact in o.artifacts]
        values = [repr(outcome.value) for outcome in self.outcomes] + [repr(call) for call in self.calls]
        return any(word in text for text in [*self.texts, *contents, *values])


def _took_too_much_memory(trial: Trial) -> bool:
    return any(outcome.counts.peak_memory_bytes > LIMITS.memory_bytes for outcome in trial.outcomes)


def _has_controls(trial: Trial) -> bool:
    return any(printed(text.encode("utf-8", "replace")) != text for text in trial.texts)


def _has_wrong_artifacts(trial: Trial) -> bool:
    artifacts = [artifact for outcome in trial.outcomes for artifact in outcome.artifacts]
    size = sum(len(artifact.content) for artifact in artifacts)
    is_too_much = size > LIMITS.files_bytes or len(artifacts) > LIMITS.files
    return is_too_much or not all(is_file_name(artifact.name) for artifact in artifacts)


def _has_wrong_calls(trial: Trial) -> bool:
    is_wrong = any(
        type(call.seq) is not int or not isinstance(call.name, str) or not isinstance(call.arguments, dict)
        for call in trial.calls
    )
    numbers = [call.seq for call in trial.calls]
    is_wrong = is_wrong or numbers != list(range(1, len(numbers) + 1))
    return is_wrong or len(numbers) > LIMITS.calls or trial.late_calls > 0


def _has_no_json(trial: Trial) -> bool:
    for outcome in trial.outcomes:
        try:
            json.dumps(outcome.value, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            return True
    return False


ORACLES: Final[dict[str, Callable[[Trial], bool]]] = {
    "secret": lambda trial: trial.says(trial.secret),
    "files": lambda trial: trial.changed,
    "contact": lambda trial: trial.contacted,
    "victim": lambda trial: trial.touched,
    "processes": lambda trial: trial.extra_processes > 0,
    "busy": lambda trial: trial.is_busy,
    "overran": lambda trial: trial.overran,
    "host": lambda trial: trial.has_died or trial.raised is not None,
    "host memory": lambda trial: trial.growth_bytes > HOST_GROWTH_BYTES,
    "descriptors": lambda trial: trial.descriptors > 5,
    "memory": _took_too_much_memory,
    "calls": _has_wrong_calls,
    "controls": _has_controls,
    "artifacts": _has_wrong_artifacts,
    "no JSON": _has_no_json,
    "claim": lambda trial: trial.says("CLAIM"),
    "existence": lambda trial: trial.says("EXISTS "),
}


def fired(trial: Trial) -> list[str]:
    """The oracles that say that it got out."""
    return [name for name, oracle in ORACLES.items() if oracle(trial)]
