"""A forked process locks itself in, for good, before any foreign code runs in it; if a step fails, it ends."""

from __future__ import annotations

import fcntl
import os
import signal
import traceback
from dataclasses import dataclass
from typing import NoReturn

from .guest.channel import Channel
from .guest.serving import serve
from .linux import landlock, rights, seccomp
from .linux.namespaces import SCRATCH_PATH, mount_memory, separate_files
from .paths import DEVICES
from .settings import Settings

_DESCRIPTORS = 64
_CHANNEL = 3
_REFUSED = 70


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What is the same for all workers, worked out once.

    Attributes:
        readable: Paths that a worker may read, with Landlock's rights.
        is_root: Whether workers still have to become nobody.
    """

    settings: Settings
    readable: list[tuple[str, int]]
    is_root: bool
    seccomp: seccomp.Filter


def become_worker(prepared: Prepared, descriptors: tuple[int, int, int]) -> NoReturn:
    """Isolates this process, then serves the guest's side of the channel until the host closes it; never returns.

    Args:
        prepared: How.
        descriptors: The channel, and where standard output and standard error go.
    """
    try:
        arrange(descriptors)
        channel = Channel(_CHANNEL)
        try:
            _lock_in(prepared)
        except Exception as error:  # whatever went wrong, nothing may run here
            channel.send({"op": "refused", "reason": f"{type(error).__name__}: {error}"})
            os._exit(_REFUSED)
        serve(channel, scratch=None if prepared.settings.directory else SCRATCH_PATH)
    except BaseException:  # nothing of the zygote, which this process was, may go on here
        traceback.print_exc()
    finally:
        os._exit(1)


def arrange(descriptors: tuple[int, int, int]) -> None:
    """0 reads nothing, 1 and 2 are the outputs, 3 is the channel; nothing else is open."""
    channel, output, errors = (fcntl.fcntl(each, fcntl.F_DUPFD, 64) for each in descriptors)
    nothing = os.open("/dev/null", os.O_RDONLY)
    for number, each in enumerate((nothing, output, errors, channel)):
        os.dup2(each, number)
    os.closerange(4, 4096)


def _lock_in(prepared: Prepared) -> None:
    settings = prepared.settings
    allowed = [*prepared.readable, *((device, landlock.DEVICE) for device in DEVICES)]
    if settings.has_namespaces:
        separate_files()
        mount_memory(SCRATCH_PATH, size_bytes=settings.scratch_bytes, files=settings.scratch_files + 1, mode=0o700)
        allowed.append((SCRATCH_PATH, landlock.SCRATCH))
    if prepared.is_root:
        rights.become_nobody()
    rights.give_up_capabilities()
    rights.die_with_parent()
    rights.limit_resources(
        memory_bytes=settings.memory_bytes,
        cpu_s=settings.lifetime_cpu_s,
        file_bytes=settings.file_bytes if settings.has_namespaces else 0,
        descriptors=_DESCRIPTORS,
    )
    os.chdir(settings.directory or SCRATCH_PATH)
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    landlock.restrict(allowed)
    seccomp.install(prepared.seccomp.program(os.getpid()))
