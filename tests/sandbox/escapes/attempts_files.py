"""Attempts to read and change files of the machine, to use up its disk, and to learn of files what nobody told."""

from __future__ import annotations

from functools import partial

from escape_snippets import Attempt

file = partial(Attempt, kind="file", control="unlocked")
disk = partial(Attempt, kind="disk", control="unlocked", oracle="claim")
metadata = partial(Attempt, kind="metadata", control="unlocked")

ATTEMPTS = (
    file(name="file: read", oracle="secret", code="print(open(CANARY).read())"),
    file(
        name="file: read by a path with dots",
        oracle="secret",
        code="print(open('../' * 30 + CANARY.lstrip('/')).read())",
    ),
    file(
        name="file: read through a symbolic link",
        oracle="secret",
        code="os.symlink(CANARY, 'way')\nprint(open('way').read())",
    ),
    file(
        name="file: read through a hard link",
        oracle="secret",
        code="os.link(CANARY, 'way')\nprint(open('way').read())",
    ),
    file(
        name="file: read by a directory that is open as a path only",
        oracle="secret",
        code="""
top = os.open('/', os.O_PATH)
inner = os.open(OUTSIDE, os.O_PATH)
for directory, name in ((top, CANARY.lstrip('/')), (inner, 'canary')):
    print(os.read(os.open(name, os.O_RDONLY, dir_fd=directory), 100))
""",
    ),
    file(
        name="file: read from the working directory",
        oracle="secret",
        code="os.chdir(OUTSIDE)\nprint(open('canary').read())",
    ),
    file(
        name="file: open anew what was opened as a path",
        oracle="secret",
        code="print(open(f'/proc/self/fd/{os.open(CANARY, os.O_PATH)}').read())",
    ),
    file(
        name="file: read by openat2",
        oracle="secret",
        code="""
import struct
how = ctypes.create_string_buffer(struct.pack('QQQ', 0, 0, 0), 24)
descriptor, _ = kernel(437, -100, CANARY.encode(), how, 24)
print(os.read(descriptor, 100))
""",
    ),
    file(
        name="file: read through /proc/self/root",
        oracle="secret",
        code="print(open(f'/proc/self/root{CANARY}').read())",
    ),
    file(
        name="file: read through another process's root",
        oracle="secret",
        code="print(open(f'/proc/{HOST}/root{CANARY}').read())",
    ),
    file(
        name="file: read while a link is swapped",
        oracle="secret",
        code="""
open('harmless', 'w').close()
for turn in range(200):
    os.symlink('harmless' if turn % 2 else CANARY, 'new')
    os.rename('new', 'way')
    print(open('way').read())
""",
    ),
    file(name="file: list a directory", oracle="secret", code="print(os.listdir(OUTSIDE))"),
    file(
        name="file: import a module of the machine",
        oracle="secret",
        code="sys.path.insert(0, OUTSIDE)\nimport module\nprint(module.VALUE)",
    ),
    file(
        name="file: read what the host has open",
        oracle="secret",
        control="trusting",
        code="""
for descriptor in range(256):
    try:
        print(os.pread(descriptor, 1000, 0))
    except OSError:
        pass
""",
    ),
    file(
        name="file: have the host read a link that the code made",
        oracle="secret",
        control="trusting",
        code="os.symlink(CANARY, 'report.txt')",
    ),
    file(
        name="file: have the host store a file elsewhere",
        oracle="files",
        control="trusting",
        code="send({'op': 'artifact', 'name': f'{OUTSIDE}/planted', 'data': 'eA==', 'last': True})",
    ),
    file(
        name="file: have the host store a file above",
        oracle="files",
        control="trusting",
        code="send({'op': 'artifact', 'name': '../outside/planted', 'data': 'eA==', 'last': True})",
    ),
    file(name="file: write", oracle="files", code="open(CANARY, 'a').write('x')"),
    file(
        name="file: write to a mapping",
        oracle="files",
        code="""
import mmap
with open(CANARY, 'r+b') as file, mmap.mmap(file.fileno(), 0) as mapped:
    mapped[0] = 88
""",
    ),
    file(name="file: truncate", oracle="files", code="os.truncate(CANARY, 0)"),
    file(name="file: create", oracle="files", code="open(f'{OUTSIDE}/new', 'w').close()"),
    file(name="file: create a directory", oracle="files", code="os.mkdir(f'{OUTSIDE}/new')"),
    file(name="file: create a pipe", oracle="files", code="os.mkfifo(f'{OUTSIDE}/new')"),
    file(name="file: create a link", oracle="files", code="os.symlink('/', f'{OUTSIDE}/new')"),
    file(name="file: create a hard link", oracle="files", code="os.link(CANARY, f'{OUTSIDE}/new')"),
    file(
        name="file: create a socket",
        oracle="files",
        code="""
import socket
socket.socket(socket.AF_UNIX).bind(f'{OUTSIDE}/new')
""",
    ),
    file(name="file: remove", oracle="files", code="os.unlink(CANARY)"),
    file(name="file: rename", oracle="files", code="os.rename(CANARY, CANARY + '2')"),
    file(
        name="file: exchange with another",
        oracle="files",
        code="""
kernel('renameat2', -100, CANARY.encode(), -100, f'{OUTSIDE}/module.py'.encode(), 2)
""",
    ),
    file(name="file: change the mode", oracle="files", code="os.chmod(CANARY, 0o600)"),
    file(
        name="file: change the mode by fchmodat2",
        oracle="files",
        code="kernel('fchmodat2', -100, CANARY.encode(), 0o600, 0)",
    ),
    file(
        name="file: change the mode of what is open",
        oracle="files",
        code="""
descriptor = os.open(OUTSIDE, os.O_PATH)
os.chmod(f'/proc/self/fd/{descriptor}', 0o700)
""",
    ),
    file(name="file: change the times", oracle="files", code="os.utime(CANARY, (0, 0))"),
    file(name="file: set an attribute", oracle="files", code="os.setxattr(CANARY, 'user.x', b'x')"),
    file(name="file: set an attribute of the directory", oracle="files", code="os.setxattr(OUTSIDE, 'user.x', b'x')"),
    disk(
        name="disk: more than the limit in many files",
        code="""
written = 0
try:
    for number in range(40):
        with open(f'f{number}', 'wb') as file:
            written += file.write(bytes(1 << 20))
except OSError:
    pass
if written > LIMIT * 1.2: claim(written)
for number in range(40):
    try: os.unlink(f'f{number}')
    except OSError: pass
""",
    ),
    disk(
        name="disk: more than the limit in files that are removed but open",
        code="""
written, held = 0, []
try:
    for number in range(40):
        held.append(open('f', 'wb'))
        os.unlink('f')
        written += held[-1].write(bytes(1 << 20))
        held[-1].flush()
except OSError:
    pass
if written > LIMIT * 1.2: claim(written)
""",
    ),
    disk(
        name="disk: one file beyond its limit",
        code="""
with open('f', 'wb') as file:
    for _ in range(20):
        file.write(bytes(1 << 20))
        file.flush()
if os.stat('f').st_size > LIMIT: claim(os.stat('f').st_size)
os.unlink('f')
""",
    ),
    disk(
        name="disk: a sparse file beyond its limit",
        code="""
with open('f', 'wb') as file:
    file.truncate(LIMIT * 3)
    claim(os.stat('f').st_size)
os.unlink('f')
""",
    ),
    disk(
        name="disk: space allocated beyond the limit",
        code="""
with open('f', 'wb') as file:
    os.posix_fallocate(file.fileno(), 0, LIMIT * 3)
    claim(os.stat('f').st_size)
os.unlink('f')
""",
    ),
    disk(
        name="disk: more files than the limit",
        code="""
for number in range(200):
    open(f'f{number}', 'w').close()
claim('200 files')
""",
        known=("podman",),
    ),
    disk(
        name="disk: more directories and links than the limit",
        code="""
for number in range(100):
    os.mkdir(f'd{number}')
    os.symlink('x', f'd{number}/link')
claim('200 entries')
""",
        known=("podman",),
    ),
    metadata(
        name="metadata: whether a path exists, and its size",
        oracle="existence",
        code="exists(os.stat(CANARY).st_size)",
        known=("jail",),
    ),
    metadata(
        name="metadata: whether a path can be read",
        oracle="existence",
        code="if os.access(CANARY, os.F_OK): exists(CANARY)",
        known=("jail",),
    ),
    metadata(name="metadata: where a link leads", oracle="secret", code="print(os.readlink(f'{OUTSIDE}/link'))"),
    metadata(
        name="metadata: where a link leads, by its descriptor",
        oracle="secret",
        code="print(os.readlink('', dir_fd=os.open(f'{OUTSIDE}/link', os.O_PATH | os.O_NOFOLLOW)))",
    ),
    metadata(name="metadata: attributes of a file", oracle="claim", code="claim(os.listxattr(CANARY))"),
)
