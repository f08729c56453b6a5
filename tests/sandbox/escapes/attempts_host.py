"""Attempts to reach the host's objects and memory from within the interpreter, and to leave something behind."""

from __future__ import annotations

from functools import partial

from escape_snippets import Attempt

interpreter = partial(Attempt, kind="interpreter", control="trusting", oracle="secret")
session = partial(Attempt, kind="session", control="trusting", oracle="claim")
memory = partial(Attempt, kind="memory", control="trusting", oracle="secret")

ATTEMPTS = (
    interpreter(
        name="interpreter: up the frames",
        code="""
frame = sys._getframe()
while frame is not None:
    for name, value in [*frame.f_locals.items(), *frame.f_globals.items()]:
        if name in ('secret', 'given'): print(value)
    frame = frame.f_back
""",
    ),
    interpreter(
        name="interpreter: all objects",
        code="""
import gc
for thing in gc.get_objects():
    for value in gc.get_referents(thing):
        if type(value) is str and value.startswith('secret-'): print(value)
""",
    ),
    interpreter(
        name="interpreter: all classes, to a shell",
        oracle="files",
        code="""
for found in object.__subclasses__():
    if found.__name__ == '_wrap_close':
        found.__init__.__globals__['system'](f'echo > {OUTSIDE}/ran')
""",
    ),
    interpreter(
        name="interpreter: frames of all threads",
        code="""
for frame in sys._current_frames().values():
    while frame is not None:
        print(frame.f_locals.get('secret'), frame.f_locals.get('given'))
        frame = frame.f_back
frame = sys._getframe()
while frame.f_back is not None: frame = frame.f_back
import gc
print([each for each in gc.get_referents(frame.f_locals) if isinstance(each, str) and 'secret-' in each])
print(sys.argv, sys.orig_argv, open(CANARY).read())
""",
    ),
    interpreter(
        name="interpreter: a function of the host replaced",
        code="""
import json
kept = json.dumps
def stolen(content, *arguments, **options):
    if 'outcomes' in content: content['outcomes'][0]['stdout'] = open(CANARY).read()
    return kept(content)
json.dumps = stolen
""",
    ),
    interpreter(
        name="interpreter: a hook in its audit",
        oracle="host",
        code="""
def hook(event, arguments):
    os._exit(1)
sys.addaudithook(hook)
""",
    ),
    session(
        name="session: variables of an earlier run",
        code="left = 'here'",
        then="if 'left' in globals(): claim('variables')",
    ),
    session(
        name="session: files of an earlier run",
        control="trusting",
        code="open('left', 'w').close()",
        then="if os.path.exists('left'): claim('files')",
    ),
    session(
        name="session: changed functions of an earlier run",
        code="import builtins, json\nbuiltins.left = json.left = 1",
        then="import builtins, json\nif hasattr(builtins, 'left') or hasattr(json, 'left'): claim('functions')",
    ),
    session(
        name="session: modules of an earlier run",
        code="sys.modules['left'] = sys\nsys.path.insert(0, '/left')",
        then="if 'left' in sys.modules or '/left' in sys.path: claim('modules')",
    ),
    session(
        name="session: the environment of an earlier run",
        code="os.environ['LEFT'] = '1'\nos.umask(0)",
        then="if 'LEFT' in os.environ: claim('environment')",
    ),
    session(
        name="session: signals of an earlier run",
        code="import signal\nsignal.signal(signal.SIGUSR1, signal.SIG_IGN)",
        then="import signal\nif signal.getsignal(signal.SIGUSR1) == signal.SIG_IGN: claim('signals')",
    ),
    session(
        name="session: descriptors of an earlier run",
        code="os.dup2(os.open('/dev/null', os.O_RDONLY), 50)",
        then="os.fstat(50)\nclaim('descriptors')",
    ),
    session(
        name="session: a thread of an earlier run",
        oracle="processes",
        control="unlocked",
        code="import _thread, time\n_thread.start_new_thread(time.sleep, (5,))\ncall_sync('look')",
        then="1",
    ),
    session(
        name="session: bytes on the channel from an earlier run",
        oracle="host",
        code="os.write(CHANNEL, b'\\0\\0\\0\\5{')\ncall_sync('f')",
        then="os.write(CHANNEL, b'\"op\"')",
    ),
    memory(
        name="memory: through its own addresses",
        code="""
with open('/proc/self/maps') as maps:
    for line in maps:
        where, rights = line.split()[:2]
        if rights.startswith('rw') and '[v' not in line:
            low, high = (int(each, 16) for each in where.split('-'))
            for start in range(low, min(high, low + (64 << 20)), 1 << 20):
                content = ctypes.string_at(start, min(1 << 20, high - start))
                at = content.find(b'secret-')
                while at >= 0:
                    print(content[at:at + 40])
                    at = content.find(b'secret-', at + 1)
""",
    ),
    memory(
        name="memory: through its heap",
        code="""
import gc
here = id(bytearray(1))
low = min(id(each) for each in gc.get_objects())
reading, writing = os.pipe()
found = 0
for page in range(low & ~4095, low + (24 << 20), 4096):
    try:
        if os.write(writing, (ctypes.c_char * 4096).from_address(page)): pass
    except OSError:
        continue
    content = os.read(reading, 4096)
    at = content.find(b'secret-')
    while at >= 0:
        print(content[at:at + 40])
        at = content.find(b'secret-', at + 1)
""",
    ),
    memory(
        name="memory: what was freed",
        code="""
import gc
for size in (40, 48, 56, 64, 96, 128):
    held = [ctypes.create_string_buffer(size) for _ in range(10)]
print([each for each in gc.get_objects() if isinstance(each, list) and 'secret-' in repr(each)[:100000]])
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
for size in range(16, 4096, 16):
    for _ in range(20):
        content = ctypes.string_at(libc.malloc(size), size)
        if b'secret-' in content: print(content)
""",
    ),
)
