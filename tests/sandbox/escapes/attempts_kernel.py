"""Attempts to use what the kernel has beyond a worker's needs, and to reach anybody by a socket.

Arguments are such that a kernel which deals with the call refuses them, so that nothing happens where it could.
"""

from __future__ import annotations

from functools import partial

from escape_snippets import Attempt

kernel = partial(Attempt, kind="kernel", control="unlocked", oracle="claim", is_optional=True)
network = partial(Attempt, kind="network", control="unlocked", oracle="contact")

_RUN_MACHINE_CODE = """
import mmap
def run(code):
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(bytes.fromhex(code))
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return ctypes.CFUNCTYPE(ctypes.c_long)(address)()
"""

ATTEMPTS = (
    kernel(name="kernel: a namespace of users", code="reaches('unshare', 0x10000000)"),
    kernel(
        name="kernel: a namespace of mounts",
        code="""
if kernel('unshare', 0x10020000)[0] == 0: claim('root in a file system of its own')
""",
    ),
    kernel(name="kernel: enter a namespace", code="reaches('setns', -1, 0)"),
    kernel(name="kernel: mount", code="reaches('mount', 0, 0, 0, 0, 0)"),
    kernel(name="kernel: another root", code="reaches('chroot', 0)"),
    kernel(name="kernel: a tree of mounts", code="reaches('open_tree', -1, 0, 0)"),
    kernel(name="kernel: io_uring", code="reaches('io_uring_setup', 1, 0)"),
    kernel(
        name="kernel: io_uring that works",
        code="""
parameters = ctypes.create_string_buffer(120)
if reaches('io_uring_setup', 1, parameters) >= 0: claim('a ring')
""",
    ),
    kernel(name="kernel: programs in the kernel", code="reaches('bpf', 0, 0, 4096)"),
    kernel(name="kernel: performance counters", code="reaches('perf_event_open', 0, 0, -1, -1, 0)"),
    kernel(name="kernel: keys", code="reaches('keyctl', 0, -3, 0)"),
    kernel(name="kernel: add a key", code="reaches('add_key', 0, 0, 0, 0, 0)"),
    kernel(name="kernel: handle page faults", code="reaches('userfaultfd', 0x80001)"),
    kernel(name="kernel: a file in memory", code="reaches('memfd_create', 0, 0)"),
    kernel(name="kernel: a secret file in memory", code="reaches('memfd_secret', 0x1234)"),
    kernel(name="kernel: splice", code="reaches('splice', -1, 0, -1, 0, 1, 0)"),
    kernel(name="kernel: give memory to a pipe", code="reaches('vmsplice', -1, 0, 0, 0)"),
    kernel(
        name="kernel: shared memory",
        code="""
answer = reaches('shmget', 0, 1 << 20, 0o600)
if answer >= 0: kernel('shmctl', answer, 0, 0)
""",
    ),
    kernel(name="kernel: semaphores", code="reaches('semget', 0, 0, 0o600)"),
    kernel(name="kernel: a queue of messages", code="reaches('mq_open', 0, 0, 0, 0)"),
    kernel(
        name="kernel: a handle of a file",
        code="""
handle, mount = ctypes.create_string_buffer(bytes([128, 0, 0, 0]), 200), ctypes.create_string_buffer(8)
reaches('name_to_handle_at', -100, b'/', handle, mount, 0)
""",
    ),
    kernel(name="kernel: a process tells to trace it", code="reaches('ptrace', 0, 0, 0, 0)"),
    kernel(name="kernel: let others see its memory", code="reaches('prctl', 4, 1, 0, 0, 0)"),
    kernel(name="kernel: outlive its parent", code="reaches('prctl', 1, 0, 0, 0, 0)"),
    kernel(name="kernel: another filter of its own", code="reaches('seccomp', 1, 0, 0)"),
    kernel(name="kernel: filter by the older way", code="reaches('prctl', 22, 2, 0, 0, 0)"),
    kernel(name="kernel: have system calls handled by itself", code="reaches('prctl', 59, 2, 0, 0, 0)"),
    kernel(
        name="kernel: more of its own limits",
        code="""
import resource
resource.setrlimit(resource.RLIMIT_NPROC, resource.getrlimit(resource.RLIMIT_NPROC))
claim('its limits are its own')
""",
    ),
    kernel(
        name="kernel: another personality",
        code="reaches(135, 0xffffffff) if os.uname().machine == 'x86_64' else reaches(92, 0xffffffff)",
    ),
    kernel(name="kernel: watch files", code="reaches(294, 0) if os.uname().machine == 'x86_64' else reaches(26, 0)"),
    kernel(
        name="kernel: a timer that signals",
        code="reaches(222, 0, 1, 0) if os.uname().machine == 'x86_64' else reaches(107, 0, 1, 0)",
    ),
    kernel(
        name="kernel: asynchronous input and output",
        code="reaches(206, 0, 0) if os.uname().machine == 'x86_64' else reaches(0, 0, 0)",
    ),
    kernel(
        name="kernel: put input into a terminal",
        code="""
import fcntl
try:
    fcntl.ioctl(0, 0x5412, b'x')
except OSError as error:
    if error.errno != 1: claim(error)
""",
    ),
    kernel(
        name="kernel: a larger pipe",
        code="""
import fcntl
reading, writing = os.pipe()
claim(fcntl.fcntl(writing, 1031, 1 << 20))
""",
    ),
    kernel(
        name="kernel: a lease of a file",
        code="""
import fcntl
try:
    fcntl.fcntl(0, 1024, 99)
except OSError as error:
    if error.errno != 1: claim(error)
""",
    ),
    kernel(
        name="kernel: calls of 32 bits",
        code=_RUN_MACHINE_CODE
        + """
answer = run('53b814000000cd805bc3')  # push rbx; mov eax, 20 (getpid); int 0x80; pop rbx; ret
if answer > 0: claim(answer)
""",
    ),
    kernel(
        name="kernel: a file opened by calls of 32 bits",
        code=_RUN_MACHINE_CODE
        + """
answer = run('5331c031db31c931d2b805000000cd805bc3')  # open(NULL)
if answer & 0xffffffff == 0xfffffff2: claim('the kernel would open files')
""",
    ),
    kernel(
        name="kernel: calls of the x32 interface",
        code="""
answer, error = kernel(0x40000000 + 39)
if answer > 0: claim(answer)
""",
    ),
    kernel(
        name="kernel: numbers with bits above",
        code="""
answer, error = kernel((1 << 32) + NUMBERS['socket'], 1, 1, 0)
if answer >= 0: claim(answer)
""",
    ),
    kernel(
        name="kernel: processor tables",
        code="""
reaches('modify_ldt', 0, ctypes.create_string_buffer(64), 64) if 'modify_ldt' in NUMBERS else None
""",
    ),
    network(
        name="network: TCP",
        code="""
import socket
socket.create_connection(('127.0.0.1', TCP), 2).sendall(TOKEN.encode())
""",
    ),
    network(
        name="network: UDP",
        code="""
import socket
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(TOKEN.encode(), ('127.0.0.1', UDP))
""",
    ),
    network(
        name="network: HTTP",
        code="""
import urllib.request
urllib.request.urlopen(f'http://127.0.0.1:{TCP}/{TOKEN}', timeout=0.2)
""",
    ),
    network(
        name="network: TCP with the first data in the handshake",
        is_optional=True,
        code="""
import socket
socket.socket().sendto(TOKEN.encode(), 0x20000000, ('127.0.0.1', TCP))
""",
    ),
    network(
        name="network: a socket with a path",
        code="""
import socket
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(UNIX)
    connection.sendall(TOKEN.encode())
""",
    ),
    network(
        name="network: an abstract socket",
        code="""
import socket
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(ABSTRACT)
    connection.sendall(TOKEN.encode())
""",
    ),
    network(
        name="network: a pair of sockets that sends elsewhere",
        code="""
import socket
one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
one.sendto(TOKEN.encode(), DATAGRAMS)
""",
    ),
    network(
        name="network: datagrams by sendmmsg",
        code="""
import socket, struct
one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
address = ctypes.create_string_buffer(b'\\1\\0' + DATAGRAMS.encode() + b'\\0')
text = ctypes.create_string_buffer(TOKEN.encode())
part = ctypes.create_string_buffer(struct.pack('QQ', ctypes.addressof(text), len(TOKEN)))
message = struct.pack('QIxxxxQQQQi', ctypes.addressof(address), len(DATAGRAMS) + 3, ctypes.addressof(part), 1, 0, 0, 0)
kernel('sendmmsg', one.fileno(), ctypes.create_string_buffer(message.ljust(64, b'\\0')), 1, 0)
""",
    ),
    network(
        name="network: the channel connected elsewhere",
        oracle="claim",
        code="""
reaches('connect', CHANNEL, ctypes.create_string_buffer(b'\\1\\0'), 2)
""",
    ),
    network(
        name="network: listen",
        oracle="claim",
        code="""
import socket
with socket.socket() as listener:
    listener.bind(('127.0.0.1', 0))
    listener.listen()
    claim(listener.getsockname())
""",
    ),
    network(
        name="network: the kernel's own messages",
        oracle="claim",
        is_optional=True,
        code="""
import socket
socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
claim('netlink')
""",
    ),
    network(
        name="network: the machine below",
        oracle="claim",
        is_optional=True,
        code="""
import socket
socket.socket(40, socket.SOCK_STREAM)
claim('vsock')
""",
    ),
    network(
        name="network: the kernel's ciphers",
        oracle="claim",
        is_optional=True,
        code="""
import socket
socket.socket(38, socket.SOCK_SEQPACKET)
claim('alg')
""",
    ),
    network(
        name="network: names of the machine's interfaces",
        oracle="claim",
        code="""
import socket
claim(socket.if_nameindex())
""",
    ),
)
