"""What the host tells the sandbox's interpreter once, when it starts: plain data, sent as JSON."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How workers are isolated and what they may use up.

    Attributes:
        has_namespaces: Whether workers see a machine of their own; without, they see this one through Landlock.
        packages: Imported before workers are forked; with any, the environment's site-packages can be read.
        memory_bytes: Address space of a worker.
        lifetime_cpu_s: CPU time of a worker, all its runs together, that the kernel ends it at.
        scratch_bytes: Size of a worker's scratch; only with namespaces.
        scratch_files: Files and directories in it.
        file_bytes: Size of one file in it.
        readable: Further paths that workers may read.
        directory: Where workers are when they start; None is the scratch.
    """

    has_namespaces: bool
    packages: tuple[str, ...]
    memory_bytes: int
    lifetime_cpu_s: int
    scratch_bytes: int
    scratch_files: int
    file_bytes: int
    readable: tuple[str, ...]
    directory: str | None
