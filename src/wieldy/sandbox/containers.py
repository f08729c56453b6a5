"""Containers of docker or podman: the command that starts one, with nothing that code does not need.

The image is one that is here already: nothing is fetched. What runs in it is our own (`inside.container`), sent over
standard input, so the image needs Python 3.11 or later and nothing of ours, and the engine may be on another machine.
"""

from __future__ import annotations

import json
import secrets
import shutil
import subprocess
import sys
import zlib
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, Literal, TypeAlias

import anyio

from wieldy.sandbox.environment import ENVIRONMENT
from wieldy.sandbox.inside.pieces import SETTINGS, piece
from wieldy.sandbox.options import Opened, Options
from wieldy.sandbox.piped import PipedWorker, open_piped
from wieldy.sandbox.tiers import StartError

EngineName: TypeAlias = Literal["docker", "podman"]

DEFAULT_IMAGE: Final = "python:3-slim"
"""Python's own; any image that has Python 3.11 or later will do."""

USER: Final = 65532
"""A number that no image's files belong to, and not `nobody`, whose processes on a machine may be limited together."""

BOOT: Final = """
import importlib.util, json, os, sys, zlib

def take(size):
    content = b""
    while len(content) < size:
        piece = os.read(0, size - len(content))
        if not piece:
            os._exit(0)
        content += piece
    return content

class Sources:
    def find_spec(self, name, path=None, target=None):
        if name in SOURCES:
            return importlib.util.spec_from_loader(name, self, is_package=SOURCES[name][1])
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        source = SOURCES[module.__name__][0]
        exec(compile(source, f"<{module.__name__}>", "exec", dont_inherit=True), module.__dict__)

SOURCES = json.loads(zlib.decompress(take(int.from_bytes(take(4), "big"))))
if sys.version_info < (3, 11):
    said = f"the image's interpreter is Python {sys.version.split()[0]}: 3.11 or later is needed".encode()
    os.write(1, b"f" + len(said).to_bytes(4, "big") + said)
    os._exit(70)
sys.meta_path.append(Sources())
sys.argv = sys.orig_argv = [""]
from inside.container import main
main()
"""

_HEADROOM_BYTES: Final = 64 << 20
_PROCESSES: Final = 16
_ASKING_S: Final = 30.0
_PROXIES: Final = ("http_proxy", "https_proxy", "ftp_proxy", "no_proxy", "all_proxy")


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A container engine that answers, with an image that is here.

    Attributes:
        path: Of its command.
        image: The image's id, so that a name that is given to another image later changes nothing.
    """

    name: EngineName
    path: str
    image: str

    def command(self, container: str, options: Options) -> list[str]:
        """What starts a container for one worker and stays attached to it.

        Args:
            container: Its name.
            options: What is asked for; the kernel holds all of the container to its limits, and the process that runs
                the code is limited further from within.
        """
        limits = options.limits
        mounts = [f"type=bind,source={path},target={path},readonly" for path in options.readable]
        return [
            *self.isolated(container, memory_bytes=limits.memory_bytes + limits.files_bytes, processes=_PROCESSES),
            *("--tmpfs", f"/scratch:rw,noexec,nosuid,nodev,size={limits.files_bytes},mode=1777"),
            *("--workdir", "/scratch"),
            *(part for mount in mounts for part in ("--mount", mount)),
            *(part for name, value in ENVIRONMENT.items() for part in ("--env", f"{name}={value}")),
            *("--entrypoint", options.python or "python3", self.image, "-s", "-P", "-c", BOOT),
        ]

    def isolated(self, container: str, *, memory_bytes: int, processes: int) -> list[str]:
        """The beginning of a command that starts a container: it reaches nothing, and nothing is fetched for it.

        Args:
            container: Its name.
            memory_bytes: Of all its processes and files together; some is added for what the engine itself needs.
            processes: How many there may be.
        """
        memory = f"{memory_bytes + _HEADROOM_BYTES}b"
        # A proxy's address, which may hold a password, would come from the settings of the engine's command.
        proxies = [f"{name}=" for lower in _PROXIES for name in (lower, lower.upper())]
        return [
            *(self.path, "run", "--rm", "--interactive", "--name", container, "--pull", "never"),
            *("--network", "none", "--ipc", "none", "--hostname", "sandbox", "--log-driver", "none"),
            *("--read-only", *(("--read-only-tmpfs=false",) if self.name == "podman" else ())),
            *("--user", f"{USER}:{USER}", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"),
            *("--pids-limit", str(processes), "--memory", memory, "--memory-swap", memory, "--cpus", "1"),
            *("--ulimit", "core=0:0", "--ulimit", "nofile=256:256", "--ulimit", "nproc=1024:1024"),
            *(part for each in proxies for part in ("--env", each)),
        ]

    async def remove(self, container: str) -> None:
        """The container is not there any more, whatever it was doing."""
        force = ("--force", "--time", "0") if self.name == "podman" else ("--force",)
        await _asked(self.path, "rm", *force, container)


async def find(name: EngineName, image: str | None) -> Engine:
    """The engine, if it answers and has the image.

    Raises:
        StartError: It is not installed, does not answer, or has no such image.
    """
    path = shutil.which(name)
    if path is None:
        raise StartError(f"the command {name} is not installed")
    answer = await _asked(path, "version")
    if answer.returncode:
        raise StartError(f"{name} does not answer ({_last_line(answer)}): start it, or let this user use it")
    wanted = image or DEFAULT_IMAGE
    found = await _asked(path, "image", "inspect", "--format", "{{.Id}}", wanted)
    if found.returncode:
        raise StartError(
            f"{name} has no image {wanted!r} here, and none is fetched unasked: run `{name} pull {wanted}`, or name "
            "one that is here and has what is needed (image=)"
        )
    return Engine(name=name, path=path, image=found.stdout.decode().strip())


class ContainerWorkers:
    """Each worker is a container of its own."""

    def __init__(self, engine: Engine, options: Options) -> None:
        self._engine = engine
        self._options = options
        limits = options.limits
        settings = {
            "packages": options.packages,
            "memory_bytes": limits.memory_bytes,
            "lifetime_cpu_s": limits.lifetime_cpu_s,
            "file_bytes": limits.file_bytes,
        }
        self._begin = sources() + piece(SETTINGS, json.dumps(settings).encode())

    async def start(self) -> PipedWorker:
        """A worker that is about to be ready.

        Raises:
            SandboxError: The engine's command cannot be started.
        """
        container = f"wieldy-{secrets.token_hex(8)}"
        command = self._engine.command(container, self._options)
        return await open_piped(command, self._begin, None, remove=partial(self._engine.remove, container))

    async def close(self) -> None:
        """Nothing: each container is removed with its worker."""


async def open_container(name: EngineName, options: Options) -> Opened:
    """The engine answers and has the image.

    Raises:
        StartError: It does not, or has not.
    """
    if options.readable and sys.platform == "win32":
        raise StartError("paths of Windows cannot be shown in a container (readable=)")
    engine = await find(name, options.image)
    notes = (f"image {options.image or DEFAULT_IMAGE} ({engine.image.removeprefix('sha256:')[:12]})",)
    return Opened(workers=ContainerWorkers(engine, options), notes=notes)


def sources() -> bytes:
    """What the container's interpreter imports from us, as it is sent: its length in four bytes, then packed JSON."""
    directory = Path(__file__).parent / "inside"
    modules: dict[str, tuple[str, bool]] = {}
    for path in sorted(directory.rglob("*.py")):
        parts = ("inside", *path.relative_to(directory).with_suffix("").parts)
        is_package = parts[-1] == "__init__"
        modules[".".join(parts[:-1] if is_package else parts)] = path.read_text(encoding="utf-8"), is_package
    content = zlib.compress(json.dumps(modules).encode())
    return len(content).to_bytes(4, "big") + content


async def _asked(*command: str) -> subprocess.CompletedProcess[bytes]:
    """What a short command of the engine answered."""
    with anyio.move_on_after(_ASKING_S):
        try:
            return await anyio.run_process(command, check=False, stdin=subprocess.DEVNULL)
        except OSError as error:
            return subprocess.CompletedProcess(command, 1, b"", str(error).encode())
    return subprocess.CompletedProcess(command, 1, b"", f"no answer within {_ASKING_S:.0f} s".encode())


def _last_line(answer: subprocess.CompletedProcess[bytes]) -> str:
    lines = answer.stderr.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else f"exit status {answer.returncode}"
