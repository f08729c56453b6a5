"""Attempts to start processes and threads, to reach others, and to learn of them."""

from __future__ import annotations

from functools import partial

from escape_snippets import Attempt

process = partial(Attempt, kind="process", control="unlocked")
proc = partial(Attempt, kind="proc", control="unlocked", oracle="secret")
env = partial(Attempt, kind="env", oracle="secret", control="trusting")

ATTEMPTS = (
    process(
        name="process: fork",
        oracle="processes",
        code="""
import time
if os.fork() == 0:
    time.sleep(5)
    os._exit(0)
call_sync('look')
""",
    ),
    process(
        name="process: many at once",
        oracle="processes",
        code="""
import time
for _ in range(12):
    if os.fork() == 0:
        time.sleep(5)
        os._exit(0)
call_sync('look')
""",
    ),
    process(
        name="process: one that its parent does not know",
        oracle="processes",
        code="""
import time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 256)
        time.sleep(5)
    os._exit(0)
os.wait()
""",
    ),
    process(
        name="process: by clone3",
        oracle="processes",
        code="""
import struct, time
arguments = ctypes.create_string_buffer(struct.pack('8Q', 0, 0, 0, 0, 17, 0, 0, 0), 64)
answer, error = kernel(435, arguments, 64)
if answer == 0:
    time.sleep(5)
    os._exit(0)
call_sync('look')
""",
    ),
    process(
        name="process: by vfork",
        oracle="files",
        code="""
import subprocess
subprocess.run(['/bin/sh', '-c', f'echo > {OUTSIDE}/ran'])
""",
    ),
    process(
        name="process: by posix_spawn",
        oracle="files",
        code="""
os.waitpid(os.posix_spawn(f'{OUTSIDE}/script', ['script'], {}), 0)
""",
    ),
    process(name="process: become another program", oracle="files", code="os.execv(f'{OUTSIDE}/script', ['script'])"),
    process(
        name="process: become a program that is a descriptor",
        oracle="files",
        code="""
descriptor = os.memfd_create('x', 0)
os.write(descriptor, open('/bin/sh', 'rb').read())
os.execve(descriptor, ['sh', '-c', f'echo > {OUTSIDE}/ran'], {})
""",
    ),
    process(
        name="process: a thread",
        oracle="processes",
        code="""
import threading, time
threading.Thread(target=time.sleep, args=(5,), daemon=True).start()
call_sync('look')
""",
    ),
    process(
        name="process: threads of a pool",
        oracle="processes",
        code="""
import time
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as pool:
    waiting = [pool.submit(time.sleep, 1) for _ in range(4)]
    call_sync('look')
""",
    ),
    process(
        name="process: a thread that is left behind",
        oracle="processes",
        code="""
import _thread, time
_thread.start_new_thread(time.sleep, (5,))
call_sync('look')
""",
    ),
    process(name="process: signal another", oracle="victim", code="os.kill(VICTIM, 15)"),
    process(name="process: signal a thread of another", oracle="victim", code="kernel('tgkill', VICTIM, VICTIM, 10)"),
    process(
        name="process: queue a signal",
        oracle="victim",
        code="""
import struct
kernel('rt_sigqueueinfo', VICTIM, 10, ctypes.create_string_buffer(struct.pack('iiiiii', 10, 0, -1, 0, 0, 0), 128))
""",
    ),
    process(
        name="process: signal by descriptor",
        oracle="victim",
        code="""
import signal
signal.pidfd_send_signal(os.pidfd_open(VICTIM), 10)
""",
    ),
    process(
        name="process: have a pipe signal another",
        oracle="victim",
        code="""
import fcntl
reading, writing = os.pipe()
fcntl.fcntl(reading, fcntl.F_SETOWN, VICTIM)
fcntl.fcntl(reading, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
os.write(writing, b'x')
""",
    ),
    process(name="process: stop another", oracle="victim", code="os.kill(VICTIM, 19)"),
    process(name="process: ask to signal everybody", oracle="claim", code="os.kill(-1, 0)\nclaim('allowed')"),
    process(
        name="process: ask to signal its parent", oracle="claim", code="os.kill(os.getppid(), 0)\nclaim('allowed')"
    ),
    process(name="process: ask to signal its group", oracle="claim", code="os.killpg(0, 0)\nclaim('allowed')"),
    process(
        name="process: trace another",
        is_optional=True,
        oracle="secret",
        code="""
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.restype = ctypes.c_long
if libc.ptrace(16, VICTIM, 0, 0) == 0:
    os.waitpid(VICTIM, 0)
    read = [libc.ptrace(1, VICTIM, ctypes.c_void_p(ADDRESS + offset), 0) for offset in range(0, LENGTH, 8)]
    print(b''.join(word.to_bytes(8, 'little', signed=True) for word in read))
    libc.ptrace(17, VICTIM, 0, 0)
""",
    ),
    process(
        name="process: read another's memory",
        is_optional=True,
        oracle="secret",
        code="""
import struct
buffer = ctypes.create_string_buffer(LENGTH)
mine = ctypes.create_string_buffer(struct.pack('QQ', ctypes.addressof(buffer), LENGTH))
theirs = ctypes.create_string_buffer(struct.pack('QQ', ADDRESS, LENGTH))
kernel('process_vm_readv', VICTIM, mine, 1, theirs, 1, 0)
print(buffer.raw)
""",
    ),
    process(
        name="process: take another's descriptor",
        is_optional=True,
        oracle="claim",
        code="""
answer, error = kernel('pidfd_getfd', os.pidfd_open(VICTIM), 0, 0)
if answer >= 0: claim(answer)
""",
    ),
    process(name="process: slow another down", oracle="victim", code="os.setpriority(os.PRIO_PROCESS, VICTIM, 19)"),
    process(
        name="process: pin another",
        oracle="victim",
        code="""
kernel('sched_setaffinity', VICTIM, 8, ctypes.create_string_buffer(b'\\1' + bytes(7), 8))
""",
    ),
    process(
        name="process: limit another",
        oracle="victim",
        code="""
import resource
resource.prlimit(VICTIM, resource.RLIMIT_NOFILE, (10, 10))
""",
    ),
    process(
        name="process: compare with another",
        is_optional=True,
        oracle="claim",
        code="reaches('kcmp', os.getpid(), VICTIM, 1, 0, 0)",
    ),
    process(name="process: leave its session", oracle="claim", code="os.setsid()\nclaim('a session of its own')"),
    proc(
        name="proc: another's memory",
        is_optional=True,
        code="""
with open(f'/proc/{VICTIM}/mem', 'rb', 0) as memory:
    memory.seek(ADDRESS)
    print(memory.read(LENGTH))
""",
    ),
    proc(name="proc: another's command line", code="print(open(f'/proc/{VICTIM}/cmdline').read())"),
    proc(name="proc: the host's environment", code="print(open(f'/proc/{HOST}/environ').read())"),
    proc(
        name="proc: processes of the machine",
        oracle="claim",
        code="""
pids = [name for name in os.listdir('/proc') if name.isdigit()]
if str(HOST) in pids: claim(len(pids))
""",
    ),
    proc(name="proc: its own memory as a file", oracle="claim", code="open('/proc/self/mem', 'r+b')\nclaim('open')"),
    proc(
        name="proc: what is mounted",
        oracle="claim",
        code="claim(len(open('/proc/self/mountinfo').read()))",
        known=("podman",),
    ),
    proc(
        name="proc: change the kernel's settings of itself",
        oracle="claim",
        code="""
open('/proc/self/oom_score_adj', 'w').write('1000')
claim('written')
""",
    ),
    env(name="env: its environment", code="print(dict(os.environ))"),
    env(name="env: its environment as the kernel has it", code="print(open('/proc/self/environ').read())"),
    env(
        name="env: its environment where the C library keeps it",
        code="""
entries = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), 'environ')
at = 0
while entries[at]:
    print(entries[at])
    at += 1
""",
    ),
    env(
        name="env: through the C library",
        code="""
libc = ctypes.CDLL(None)
libc.getenv.restype = ctypes.c_char_p
print(libc.getenv(b'WIELDY_SECRET'))
""",
    ),
    env(
        name="env: its parent's environment",
        control="unlocked",
        code="""
pid = os.getppid()
while pid > 1:
    print(open(f'/proc/{pid}/environ').read())
    pid = int(open(f'/proc/{pid}/stat').read().rpartition(')')[2].split()[1])
""",
    ),
)
