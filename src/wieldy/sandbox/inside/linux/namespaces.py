"""A view of the machine of a process's own: users, files, processes, network, host name, shared memory.

`separate` is called in the process that is to be separated; who its users are outside is written by its parent
(`write_user_maps`), because only a process outside may name more than one. `enter_root` then builds a file system that
has what it is given and nothing else, read-only.

Source: `user_namespaces(7)`, `pivot_root(2)`, `mount_setattr(2)`.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterable
from pathlib import Path

from .rights import NOBODY
from .system_calls import buffer_of, system_call

_NEW_FILES, _NEW_CGROUP, _NEW_HOST_NAME, _NEW_IPC = 0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000
_NEW_USERS, _NEW_PROCESSES, _NEW_NETWORK = 0x1000_0000, 0x2000_0000, 0x4000_0000
_EVERYTHING = _NEW_USERS | _NEW_FILES | _NEW_PROCESSES | _NEW_NETWORK | _NEW_IPC | _NEW_HOST_NAME | _NEW_CGROUP

_NO_SET_USER_ID, _NO_DEVICES, _NO_PROGRAMS = 2, 4, 8
_RECURSIVE, _PRIVATE = 1 << 14, 1 << 18
_DETACH = 2
_HERE = -100  # AT_FDCWD
_AT_EMPTY_PATH, _AT_RECURSIVE = 0x1000, 0x8000
_CLONE_TREE, _TREE_CLOSES_ON_EXEC, _MOVE_FROM_DESCRIPTOR = 1, os.O_CLOEXEC, 4
_ATTRIBUTE_READ_ONLY, _ATTRIBUTE_NO_SET_USER_ID, _ATTRIBUTE_NO_DEVICES = 1, 2, 4

SCRATCH_PATH = "/scratch"


def separate() -> None:
    """This process sees nothing of others any more; its children are in a process namespace of their own.

    Raises:
        OSError: The kernel, its settings or a filter around this process do not allow it.
    """
    system_call("unshare", _EVERYTHING)


def separate_files() -> None:
    """What this process mounts from now on is seen by itself only."""
    system_call("unshare", _NEW_FILES)


def write_user_maps(pid: int) -> None:
    """The separated process has users: `nobody`, and where root starts it, root for building its file system.

    For root, `nobody` is the machine's own user of that number; for anybody else it is that person.

    Raises:
        OSError: The kernel does not let this process write the maps.
    """
    user, group = os.geteuid(), os.getegid()
    directory = Path("/proc") / str(pid)
    if user == 0:
        (directory / "gid_map").write_text(f"0 0 1\n{NOBODY} {NOBODY} 1\n")
        (directory / "uid_map").write_text(f"0 0 1\n{NOBODY} {NOBODY} 1\n")
        return
    (directory / "setgroups").write_text("deny")
    (directory / "gid_map").write_text(f"{NOBODY} {group} 1\n")
    (directory / "uid_map").write_text(f"{NOBODY} {user} 1\n")


def mount_memory(path: str, *, size_bytes: int, files: int, mode: int) -> None:
    """A file system in memory of that size is at the path, with room for that many files and directories."""
    options = f"size={size_bytes},nr_inodes={files},mode={mode:o},uid={NOBODY},gid={NOBODY}"
    _mount("tmpfs", path, "tmpfs", _NO_SET_USER_ID | _NO_DEVICES | _NO_PROGRAMS, options)


def enter_root(readable: Iterable[str], *, empty: Iterable[str], devices: Iterable[str], host_name: str) -> None:
    """The root directory has the readable paths, at the same places, `/scratch`, some devices, and nothing else.

    Args:
        readable: Directories and files of the machine that are shown, read-only.
        empty: Directories beneath them that are to look empty.
        devices: Harmless device files that are shown.
        host_name: What the process takes the machine's name to be.

    Raises:
        OSError: A step was refused.
    """
    system_call("sethostname", host_name.encode(), len(host_name))
    _mount(None, "/", None, _RECURSIVE | _PRIVATE, None)
    shown = {path: _detached_copy(path, is_device=False) for path in readable if Path(path).exists()}
    shown |= {path: _detached_copy(path, is_device=True) for path in devices if Path(path).exists()}
    root = Path("/tmp")  # a place to mount at, and in this process's view only
    _mount("tmpfs", str(root), "tmpfs", _NO_SET_USER_ID | _NO_DEVICES, "size=1m,nr_inodes=4096,mode=755")
    for path, tree in shown.items():
        _attach(tree, root / path.lstrip("/"), is_directory=stat.S_ISDIR(os.fstat(tree).st_mode))
    for path in empty:
        if (root / path.lstrip("/")).is_dir():
            _mount("tmpfs", str(root / path.lstrip("/")), "tmpfs", _NO_DEVICES, "size=4k,nr_inodes=1,mode=555")
    (root / SCRATCH_PATH.lstrip("/")).mkdir()
    if not (root / "tmp").exists():  # programs like to write there; what is shown may lie there
        (root / "tmp").symlink_to(SCRATCH_PATH)
    os.chdir(root)
    system_call("pivot_root", b".", b".")
    system_call("umount2", b".", _DETACH)
    os.chdir("/")
    _make_read_only(_HERE, b"/", 0)


def _detached_copy(path: str, *, is_device: bool) -> int:
    """A descriptor of the path and all that is mounted beneath, as a tree that can only be read."""
    flags = _CLONE_TREE | _TREE_CLOSES_ON_EXEC | _AT_RECURSIVE
    tree = system_call("open_tree", _HERE, os.fsencode(path), flags)
    if not is_device:
        _make_read_only(tree, b"", _AT_EMPTY_PATH | _AT_RECURSIVE)
    return tree


def _make_read_only(directory: int, path: bytes, flags: int) -> None:
    attributes = _ATTRIBUTE_READ_ONLY | _ATTRIBUTE_NO_SET_USER_ID | _ATTRIBUTE_NO_DEVICES
    request = struct.pack("=QQQQ", attributes, 0, 0, 0)
    system_call("mount_setattr", directory, path, flags, buffer_of(request), len(request))


def _attach(tree: int, target: Path, *, is_directory: bool) -> None:
    if is_directory:
        target.mkdir(parents=True, exist_ok=True)
    elif not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    system_call("move_mount", tree, b"", _HERE, os.fsencode(target), _MOVE_FROM_DESCRIPTOR)
    os.close(tree)


def _mount(source: str | None, target: str, kind: str | None, flags: int, options: str | None) -> None:
    texts = [None if text is None else text.encode() for text in (source, target, kind)]
    system_call("mount", *texts, flags, None if options is None else options.encode())
