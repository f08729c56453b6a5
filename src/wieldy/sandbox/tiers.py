"""The ways of isolating code, from the strongest: what each keeps code from, and what it does not."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

TierName: TypeAlias = Literal["jail-ns", "jail", "podman", "docker", "monty"]

TIERS: Final[tuple[TierName, ...]] = get_args(TierName)

BY_KERNEL: Final[tuple[TierName, ...]] = ("jail-ns", "jail", "podman", "docker")
"""Those that are tried where none is named, in this order. The others have to be named: what isolates in them is a
program, not a kernel."""

_CONTAINER: Final = (
    "files: only those of the image and what is named can be read; only a scratch in memory, of a set size, can be "
    "written",
    "the network: there is none, and no sockets",
    "processes: no other one is seen, none can be started, threads neither",
    "the kernel: system calls are an allow-list, beside that of the engine",
    "memory, CPU time, output, the size of files and calls: limited",
)
_CONTAINER_LEAVES: Final = (
    "the kernel is shared, unless the engine runs containers in a virtual machine",
    "side channels: timing, caches, load",
    "all of the image can be read, and what is mounted there, with the paths at which the engine keeps it",
    "how many files code writes is bounded by memory only; too many end the run when it has ended itself",
    "the engine runs with more rights than code or this program need",
)

ISOLATES: Final[dict[TierName, tuple[str, ...]]] = {
    "jail-ns": (
        "files: only the interpreter's library, its packages and what is named can be read; only a scratch in memory, "
        "of a set size, can be written",
        "the network: there is none, and no sockets",
        "processes: no other one is seen, none can be started, threads neither",
        "the kernel: system calls are an allow-list",
        "memory, CPU time, output, files and calls: limited",
    ),
    "jail": (
        "files: only the interpreter's library, its packages and what is named can be read; nothing can be written",
        "the network: no sockets",
        "processes: none can be started, signalled or traced, threads neither",
        "the kernel: system calls are an allow-list",
        "memory, CPU time, output and calls: limited",
    ),
    "podman": _CONTAINER,
    "docker": _CONTAINER,
    "monty": (
        "files, the network, processes, the environment: the interpreter has no means to reach any of them",
        "the memory of this program: code is interpreted in another process",
        "memory, time of interpreting, output and calls: limited",
    ),
}

LEAVES: Final[dict[TierName, tuple[str, ...]]] = {
    "jail-ns": (
        "the kernel is shared: a fault in a system call that is allowed is a way out",
        "side channels: timing, caches, load",
        "installed packages of the interpreter's environment can be read, where packages are asked for",
    ),
    "jail": (
        "the kernel is shared: a fault in a system call that is allowed is a way out",
        "side channels: timing, caches, load",
        "installed packages of the interpreter's environment can be read, where packages are asked for",
        "whether a path of the machine exists, and its size, times and owner, can be asked",
        "the machine's name, and the numbers of processes and users, can be asked",
    ),
    "podman": _CONTAINER_LEAVES,
    "docker": _CONTAINER_LEAVES,
    "monty": (
        "a fault in the interpreter is a way out: its process is held by no kernel",
        "side channels: timing, caches, load",
        "it is a part of Python: no packages, few modules of the library, no files, no generators, no subclasses",
    ),
}


class StartError(Exception):
    """The isolation that was asked for cannot be had here; the text says why."""
