"""The ways of isolating code, from the strongest: what each keeps code from, and what it does not."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

TierName: TypeAlias = Literal["jail-ns", "jail"]

TIERS: Final[tuple[TierName, ...]] = get_args(TierName)
"""From the strongest to the weakest."""

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
}
