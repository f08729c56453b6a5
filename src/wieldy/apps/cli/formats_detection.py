"""The format of a chat template, found in a process of its own that may use only so much.

A template is a program that came with the weights. Jinja's sandbox keeps it from the machine, not from running for ever
or from filling the memory, and a thread that does so cannot be stopped; a process can. This module is both sides: the
command calls `find_format`, which runs this module again as the process. Deliberately not here: how the format is found
(`wieldy.formats.templates.detection`), and what a template file is (`formats_input`).
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import dataclass
from typing import Final, cast

from wieldy.apps.cli.json_lines import print_json
from wieldy.core.errors import ModelNotAvailableError, UsageError, WieldyError
from wieldy.core.json import JsonObject

# What reads templates is imported where it is needed: the command itself waits for the other process only.

_STANDARD_INPUT: Final = "-"
_MAX_MESSAGE: Final = 4000
"""The longest message that is handed on: what a template wrote may stand in it."""
_ERRORS: Final = {kind.__name__: kind for kind in (ModelNotAvailableError, UsageError, WieldyError)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the process may use; processor time and memory only where the system can limit them, as POSIX can."""

    cpu_s: int = 10
    memory_bytes: int = 512 * 2**20
    wall_s: float = 30


LIMITS: Final = Limits()


def find_format(place: str, *, limits: Limits = LIMITS) -> str:
    """The name of the format that the template at this place writes.

    Raises:
        UsageError: There is no template there.
        ModelNotAvailableError: A model file cannot be read or holds none.
        WieldyError: No known format reads what it writes, or it reached a limit.
    """
    if not sys.executable:
        raise WieldyError("Expected to know this program's own Python, which would run the template, found none.")
    # -P: the template's folder must not shadow a module. Open descriptors stay open for the sake of `<(command)`.
    command = [sys.executable, "-P", "-m", __name__, place, str(limits.cpu_s), str(limits.memory_bytes)]
    given = _standard_input() if place == _STANDARD_INPUT else b""
    try:
        ended = subprocess.run(
            command, input=given, capture_output=True, check=False, close_fds=False, timeout=limits.wall_s
        )
    except subprocess.TimeoutExpired:
        raise _stopped(place, f"it ran for {limits.wall_s:g} seconds") from None
    return _answer(place, ended, limits)


def _answer(place: str, ended: subprocess.CompletedProcess[bytes], limits: Limits) -> str:
    number = -ended.returncode
    if number == getattr(signal, "SIGXCPU", None):
        raise _stopped(place, f"it used {limits.cpu_s} seconds of processor time")
    if number > 0:
        raise _stopped(place, f"its process ended with signal {number}, as it does when memory runs out")
    try:
        answer = cast("JsonObject", json.loads(ended.stdout))
    except ValueError:
        said = ended.stderr.decode("utf-8", "replace").strip()
        raise RuntimeError(f"detection ended with {ended.returncode}: {said[-200:]}") from RuntimeError(said)
    match answer:
        case {"name": str(name)}:
            return name
        case {"error": str(kind), "message": str(message)}:
            raise _ERRORS.get(kind, WieldyError)(message)
        case _:
            raise _stopped(place, f"it asked for more than {limits.memory_bytes / 2**20:g} MiB of memory")


def _stopped(place: str, reason: str) -> WieldyError:
    name = "standard input" if place == _STANDARD_INPUT else place
    return WieldyError(
        f"{name}: the chat template was stopped: {reason}. It is a program that came with the weights, and it is not "
        "trusted with more. Look at what it does, or name the format instead."
    )


def _standard_input() -> bytes:
    from wieldy.apps.cli.formats_input import MAX_TEMPLATE_BYTES  # noqa: PLC0415

    # Here, since nobody knows how long another program takes to write it. One byte more shows that it is too long.
    return sys.stdin.buffer.read(MAX_TEMPLATE_BYTES + 1) if sys.stdin else b""


def main() -> None:
    """Find the format at the place that the arguments name, and write the answer as one line of JSON."""
    place, cpu_s, memory_bytes = sys.argv[1:]
    _limit(cpu_s=int(cpu_s), memory_bytes=int(memory_bytes))
    try:
        answer: JsonObject = {"name": _detected(place)}
    except MemoryError:
        answer = {"reached": "memory"}
    except WieldyError as error:
        answer = {"error": type(error).__name__, "message": str(error)[:_MAX_MESSAGE]}
    print_json(answer)


def _detected(place: str) -> str:
    from wieldy.apps.cli.formats_input import read_template  # noqa: PLC0415
    from wieldy.formats.templates.detection import detect  # noqa: PLC0415

    template = read_template(place)
    try:
        return detect(template)
    except UsageError as error:  # a template it is, so the command was used rightly
        raise WieldyError(str(error)) from error


def _limit(*, cpu_s: int, memory_bytes: int) -> None:
    try:
        import resource  # noqa: PLC0415 - only POSIX has it
    except ImportError:
        return
    wanted = ((resource.RLIMIT_CPU, cpu_s), (resource.RLIMIT_AS, memory_bytes), (resource.RLIMIT_CORE, 0))
    for kind, most in wanted:
        soft, hard = resource.getrlimit(kind)
        lower = min((limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY), default=most)
        try:
            resource.setrlimit(kind, (min(most, lower), hard))
        except (OSError, ValueError):  # macOS has a limit of address space and refuses to set it
            continue


if __name__ == "__main__":
    main()
