"""Images with nothing but this machine's own programs in them, in a store of its own, so that nothing is fetched.

One has Python and nothing else, the other a shell and some programs of Debian's base, and no Python. Whether containers
start here is found out by starting one; why not is the reason to skip.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PYTHON: Final = Path("/usr/bin/python3")
IMAGE: Final = "localhost/wieldy-own-python:latest"
PROGRAMS: Final = tuple(
    map(Path, ("/bin/sh", "/bin/tar", "/bin/cat", "/bin/sleep", "/bin/rm", "/usr/bin/awk", "/usr/bin/perl"))
)
_RUNTIMES: Final = ("crun", "runc")
_LONGEST_RUN_ROOT: Final = 50
"""In characters: podman's clean-up after a container refuses a longer one, and then `podman run` waits for ever."""


@dataclass(frozen=True, slots=True)
class Podman:
    """What has to be in the environment for podman to use the store.

    Attributes:
        environment: Beside what is there.
        reason: Why no container starts; None where one does.
    """

    environment: dict[str, str]
    reason: str | None


def prepared(directory: Path) -> Podman:
    """A store in the directory, with the image in it."""
    if shutil.which("podman") is None:
        return Podman({}, "podman is not installed")
    if not PYTHON.exists() or _asked("-c", "import sys; print(sys.version_info >= (3, 11))") != "True":
        return Podman({}, f"{PYTHON} is not there, or older than 3.11")
    if len(f"{directory}/run") > _LONGEST_RUN_ROOT:
        return Podman({}, f"expected a path of {_LONGEST_RUN_ROOT} characters at most, found {directory}/run")
    archive = _archived(_files(), directory / "image.tar")
    runtimes, reasons = list(filter(shutil.which, _RUNTIMES)), list[str]()
    for runtime in runtimes:
        environment = _settings(directory, runtime)
        try:
            if runtime == runtimes[0]:
                _podman(environment, "import", str(archive), IMAGE)
            _podman(environment, "run", "--rm", "--network=none", "--ulimit=nofile=64:64", "--ulimit=nproc=64:64",
                    "--memory=64m", "--entrypoint=python3", IMAGE, "-c", "pass")  # fmt: skip
        except subprocess.CalledProcessError as error:
            reasons.append(f"{runtime}: {error.stderr.strip().splitlines()[-1:]}")
        else:
            return Podman(environment, None)
    return Podman({}, f"no container starts here: {'; '.join(reasons) or 'there is no runtime'}")


def import_programs(podman: Podman, directory: Path, image: str) -> str | None:
    """The store has an image of this name with the programs; why not, where they are not here."""
    missing = [str(path) for path in PROGRAMS if not path.exists()]
    if missing:
        return f"this machine has no {', '.join(missing)}"
    programs = {*PROGRAMS, *(path.resolve() for path in PROGRAMS)}
    # Links may lead on to links, as /usr/bin/awk does in Debian.
    between = {path.readlink() for path in PROGRAMS if path.is_symlink()}
    libraries = {path for folder in Path("/usr/lib").glob("*/perl-base") for path in folder.rglob("*")}
    files = {*programs, *(path for path in between if path.is_absolute()), *libraries, *_shared_by(programs)}
    files |= set(Path("/usr/lib/locale/C.utf8").rglob("*"))
    _podman(podman.environment, "import", str(_archived(_whole(files), directory / "programs.tar")), image)
    return None


def remove(directory: Path) -> None:
    """Nothing of the store is left."""
    for mounted in directory.glob("graph/overlay"):  # which podman mounts upon itself
        subprocess.run(["umount", mounted], capture_output=True, check=False)
    shutil.rmtree(directory, ignore_errors=True)


def _settings(directory: Path, runtime: str) -> dict[str, str]:
    storage, engine = directory / "storage.conf", directory / f"{runtime}.conf"
    driver = "overlay" if os.geteuid() == 0 else "vfs"
    storage.write_text(
        f'[storage]\ndriver = "{driver}"\ngraphroot = "{directory}/graph"\nrunroot = "{directory}/run"\n'
    )
    # Locks in memory would be those of every store on the machine, by number.
    engine.write_text(
        f'[engine]\nruntime = "{runtime}"\nevents_logger = "none"\nlock_type = "file"\ntmp_dir = "{directory}/tmp"\n'
    )
    return {"CONTAINERS_STORAGE_CONF": str(storage), "CONTAINERS_CONF": str(engine)}


def _podman(environment: dict[str, str], *arguments: str) -> None:
    subprocess.run(
        ["podman", *arguments],
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )


def _asked(*arguments: str) -> str:
    return subprocess.run([PYTHON, *arguments], capture_output=True, text=True, check=False).stdout.strip()


def _files() -> set[Path]:
    """The interpreter, its library without packages, and the shared libraries that they need."""
    library = Path(_asked("-c", "import sysconfig; print(sysconfig.get_path('stdlib'))"))
    left_out = {"test", "idlelib", "ensurepip", "site-packages", "dist-packages", "__pycache__"}
    files = {
        path
        for path in library.rglob("*")
        if not left_out & set(path.parts) and not path.name.startswith("config-") and path.parent.name[:7] != "config-"
    }
    return _whole(
        files | {PYTHON, PYTHON.resolve(), *_shared_by({PYTHON.resolve(), *library.glob("lib-dynload/*.so")})}
    )


def _shared_by(programs: set[Path]) -> set[Path]:
    """The shared libraries that the programs need."""
    listed = subprocess.run(["ldd", *programs], capture_output=True, text=True, check=False).stdout
    named = map(Path, re.findall(r"(/\S+) \(0x", listed))
    shared = {path.parent.resolve() / path.name for path in named}  # /lib may be a link, and then nothing lies in it
    return {*shared, *(path.resolve() for path in shared)}


def _whole(files: set[Path]) -> set[Path]:
    """The files with the folders and links that lead to them."""
    found = {path.parent.resolve() / path.name for path in files}
    return found | {parent for path in found for parent in path.parents if str(parent) != "/"} | _links()


def _archived(files: set[Path], archive: Path) -> Path:
    with tarfile.open(archive, "w") as tar:
        for path in sorted(files):
            tar.add(path, arcname=str(path).lstrip("/"), recursive=False)
    return archive


def _links() -> set[Path]:
    return {path for path in map(Path, ("/bin", "/lib", "/lib64")) if path.is_symlink()}


if __name__ == "__main__":
    import tempfile

    print(json.dumps(prepared(Path(tempfile.mkdtemp())).environment))  # noqa: T201 - for trials by hand
