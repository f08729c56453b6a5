"""Attempts to compute without end, to take all memory, to flood outputs, and to take the host down with a crash."""

from __future__ import annotations

from functools import partial

from escape_snippets import Attempt

cpu = partial(Attempt, kind="cpu", control="trusting", oracle="overran")
memory = partial(Attempt, kind="memory-bomb", control="unlocked", oracle="memory")
crash = partial(Attempt, kind="crash", control="trusting", oracle="host")
output = partial(Attempt, kind="output", control="trusting")

ATTEMPTS = (
    cpu(name="cpu: a loop", code="while True: pass"),
    cpu(name="cpu: a loop within the interpreter's C", code="sum(iter(int, 1))"),
    cpu(name="cpu: arithmetic that cannot be interrupted", code="pow(3, 10 ** 8)"),
    cpu(name="cpu: a regular expression", code="import re\nre.match('(a+)+$', 'a' * 40 + 'b')"),
    cpu(name="cpu: a number as text", code="sys.set_int_max_str_digits(0)\nstr(1 << (1 << 26))"),
    cpu(
        name="cpu: a loop that catches everything",
        code="""
while True:
    try:
        while True: pass
    except BaseException:
        pass
""",
    ),
    cpu(
        name="cpu: a loop that ignores signals",
        code="""
import signal
for number in signal.valid_signals() - {9, 19}:
    signal.signal(number, signal.SIG_IGN)
while True: pass
""",
    ),
    cpu(
        name="cpu: a storm of timers",
        code="""
import signal
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.0001, 0.0001)
while True: pass
""",
    ),
    cpu(
        name="cpu: what it leaves never ends being shown",
        code="""
class Endless:
    def __repr__(self):
        while True: pass
    __reduce_ex__ = None
result = Endless()
""",
    ),
    cpu(
        name="cpu: an error whose text never ends",
        code="""
class Endless(Exception):
    def __str__(self):
        while True: pass
raise Endless
""",
    ),
    cpu(
        name="cpu: a flush that never ends",
        code="""
class Endless:
    def write(self, text): pass
    def flush(self):
        while True: pass
sys.stdout = Endless()
""",
    ),
    cpu(name="cpu: sleep", code="import time\ntime.sleep(1000)"),
    cpu(name="cpu: wait for what never comes", code="import asyncio\nawait asyncio.Event().wait()"),
    cpu(name="cpu: read what never comes", code="reading, writing = os.pipe()\nos.read(reading, 1)"),
    cpu(name="cpu: read what the host sends next", code="os.read(CHANNEL, 1)"),
    cpu(
        name="cpu: a thread that computes after the end",
        oracle="busy",
        code="""
import threading
def burn():
    while True: pass
threading.Thread(target=burn, daemon=True).start()
""",
    ),
    cpu(
        name="cpu: a timer that computes after the end",
        oracle="busy",
        code="""
import signal
def burn(*_):
    while True: pass
signal.signal(signal.SIGALRM, burn)
signal.setitimer(signal.ITIMER_REAL, 0.05)
""",
    ),
    memory(name="memory-bomb: one text", code="x = 'x' * (120 << 20)\nx = None"),
    memory(name="memory-bomb: a list", code="x = [0] * (16 << 20)\nx = None"),
    memory(name="memory-bomb: many texts", code="x = [bytes([n]) * (1 << 20) for n in range(120)]\nx = None"),
    memory(
        name="memory-bomb: mapped",
        code="""
import mmap
mapped = mmap.mmap(-1, 120 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x8000)
""",
    ),
    memory(
        name="memory-bomb: mapped and shared",
        code="""
import mmap
mapped = mmap.mmap(-1, 120 << 20)
for offset in range(0, 120 << 20, 4096): mapped[offset] = 1
""",
    ),
    memory(
        name="memory-bomb: grown in place",
        code="""
import mmap
mapped = mmap.mmap(-1, 1 << 20)
libc = ctypes.CDLL(None)
libc.malloc.restype = libc.realloc.restype = ctypes.c_void_p
at = libc.malloc(1 << 20)
at = libc.realloc(ctypes.c_void_p(at), 120 << 20)
if at: ctypes.memset(at, 1, 120 << 20)
""",
    ),
    memory(
        name="memory-bomb: a file in memory",
        oracle="claim",
        code="""
descriptor = os.memfd_create('x')
for _ in range(60): os.write(descriptor, bytes(1 << 20))
claim('60 MB that no process has mapped')
""",
    ),
    memory(
        name="memory-bomb: many files in memory",
        oracle="claim",
        code="""
held = [os.memfd_create('x') for _ in range(4)]
for descriptor in held: os.ftruncate(descriptor, 20 << 20)
claim(len(held))
""",
    ),
    memory(
        name="memory-bomb: shared segments",
        oracle="claim",
        code="""
answer, error = kernel('shmget', 0, 60 << 20, 0o600)
if answer >= 0:
    claim('60 MB that outlive the process')
    kernel('shmctl', answer, 0, 0)
""",
    ),
    memory(
        name="memory-bomb: locked",
        oracle="claim",
        code="""
import mmap
mapped = mmap.mmap(-1, 4096)
address = ctypes.addressof(ctypes.c_char.from_buffer(mapped))
answer, error = kernel('mlock', address, 4096)
if answer == 0: claim('locked')
""",
    ),
    memory(
        name="memory-bomb: a small archive of much",
        code="""
import zlib
packer = zlib.compressobj()
first = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
again = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
large = zlib.decompressobj().decompress(first + again * 120)
large = None
""",
    ),
    memory(
        name="memory-bomb: containers in containers",
        code="""
x = list(range(1 << 12))
for _ in range(12): x = [x, *x, *x]
x = None
""",
    ),
    memory(
        name="memory-bomb: full pipes",
        oracle="claim",
        code="""
held, written = [], 0
try:
    while len(held) < 80:
        held.append(os.pipe())
        os.set_blocking(held[-1][1], False)
        written += os.write(held[-1][1], bytes(1 << 16))
except OSError:
    pass
if written > 4 << 20: claim(written)
""",
    ),
    memory(
        name="memory-bomb: higher limits first",
        code="""
import resource
resource.setrlimit(resource.RLIMIT_AS, (resource.getrlimit(resource.RLIMIT_AS)[1],) * 2)
x = bytearray(120 << 20)
for offset in range(0, 120 << 20, 4096): x[offset] = 1
x = None
""",
    ),
    crash(name="crash: an address that is none", code="ctypes.string_at(1)"),
    crash(name="crash: abort", code="os.abort()"),
    crash(name="crash: exit", code="os._exit(0)"),
    crash(name="crash: kill itself", code="os.kill(os.getpid(), 9)"),
    crash(
        name="crash: a broken object",
        code="""
ctypes.memset(id(object()), 255, 16)
ctypes.memset(id(ctypes), 255, 64)
str(ctypes), repr(ctypes)
""",
    ),
    crash(
        name="crash: the stack",
        code="""
sys.setrecursionlimit(10 ** 8)
class Deep:
    __repr__ = lambda self: str(self)
def deep(n): return sorted([n, n], key=lambda _: deep(n + 1))
deep(0)
""",
    ),
    crash(
        name="crash: an instruction that is none",
        code="""
import mmap
page = mmap.mmap(-1, 4096, prot=7)
page.write(bytes(8) if os.uname().machine == 'aarch64' else bytes.fromhex('0f0b'))
ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
""",
    ),
    crash(
        name="crash: the signal for too much time",
        code="""
import signal
signal.signal(signal.SIGXCPU, signal.SIG_DFL)
os.kill(os.getpid(), signal.SIGXCPU)
""",
    ),
    output(
        name="output: a flood",
        oracle="host memory",
        code="""
line = b'x' * 65536
for _ in range(1200): os.write(1, line)
""",
    ),
    output(
        name="output: a flood of errors",
        oracle="host memory",
        code="""
line = b'x' * 65536
for _ in range(1200): os.write(2, line)
""",
    ),
    output(
        name="output: sequences for a terminal",
        oracle="controls",
        code="""
print('\\x1b]0;owned\\x07\\x1b[2J\\x9b31m\\x08\\x0d harmless')
""",
    ),
    output(name="output: sequences in an error", oracle="controls", code="raise ValueError('\\x1b[2J\\x07')"),
    output(
        name="output: sequences in an error's type",
        oracle="controls",
        code="raise type('\\x1b[2J', (Exception,), {})()",
    ),
    output(
        name="output: sequences in what a value looks like",
        oracle="controls",
        code="""
class Shown:
    def __repr__(self): return '\\x1b[2J'
result = Shown()
""",
    ),
    output(
        name="output: sequences cut into two pieces",
        oracle="controls",
        code="""
os.write(1, b'\\x1b')
os.write(1, b'[2J')
os.write(1, b'\\xc2')
os.write(1, b'\\x9b2J')
""",
    ),
    output(name="output: a file's name with a sequence", oracle="controls", code="open('\\x1b[2J', 'w').close()"),
)
