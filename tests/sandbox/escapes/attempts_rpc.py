"""Attempts to break or deceive the host through the channel: the code writes frames that the guest never writes."""

from __future__ import annotations

from functools import partial

from escape_snippets import Attempt, frame

rpc = partial(Attempt, kind="rpc", control="trusting", oracle="calls")


CALL = {"name": "f", "arguments": {}}


def batch(*calls: object, more: object = False) -> str:
    """The frame of a batch of calls, as code that sends it."""
    return frame(op="calls", calls=calls, more=more)


ATTEMPTS = (
    rpc(name="rpc: a frame longer than may be", oracle="host", code="send(b'{}', size=0xffffffff)\nsend(bytes(1000))"),
    rpc(name="rpc: a frame of which the length is a lie", oracle="host", code="send(b'[1, 2', size=5)"),
    rpc(name="rpc: an empty frame", oracle="host", code="send(b'')"),
    rpc(name="rpc: no JSON", oracle="host", code="send(b'\\xff\\xfe not text')"),
    rpc(name="rpc: no object", oracle="host", code="send(b'[]')"),
    rpc(name="rpc: nested deeply", oracle="host", code="send(b'[' * 200000 + b']' * 200000)"),
    rpc(
        name="rpc: nested deeply in a call",
        oracle="host",
        code="""
deep = b'{"a":' * 100000 + b'1' + b'}' * 100000
send(b'{"op":"calls","more":false,"calls":[{"name":"f","arguments":{"x":' + deep + b'}}]}')
""",
    ),
    rpc(
        name="rpc: a number of many digits",
        oracle="host",
        code="""
send(b'{"op":"done","value":' + b'9' * 100000 + b'}')
""",
    ),
    rpc(
        name="rpc: a number of many digits in a call",
        oracle="host",
        code="""
send(b'{"op":"calls","more":false,"calls":[{"name":"f","arguments":{"x":' + b'9' * 100000 + b'}}]}')
""",
    ),
    rpc(name="rpc: an operation that there is not", oracle="host", code=frame(op="__class__")),
    rpc(name="rpc: no operation", oracle="host", code=frame(value=1)),
    rpc(name="rpc: an operation of an odd kind", oracle="host", code=frame(op=["calls"])),
    rpc(
        name="rpc: numbers that JSON has not",
        oracle="no JSON",
        code="""
send(b'{"op":"done","value":[NaN,Infinity,-Infinity]}')
""",
    ),
    rpc(name="rpc: calls that are no list", oracle="host", code=frame(op="calls", calls=1, more=False)),
    rpc(name="rpc: a call that is no object", oracle="host", code=batch(1)),
    rpc(name="rpc: a name that is no text", code=batch({**CALL, "name": ["f"]})),
    rpc(name="rpc: arguments that are no object", code=batch({**CALL, "arguments": ["x"]})),
    rpc(name="rpc: arguments that are missing", code=batch({"name": "f"})),
    rpc(
        name="rpc: a key twice",
        code="""
send(b'{"op":"done","op":"calls","more":false,"calls":[{"name":"f","name":["g"],"arguments":{}}]}')
""",
    ),
    rpc(name="rpc: more calls than may be", code="for n in range(200): call_sync('f')"),
    rpc(
        name="rpc: more calls than may be, at once",
        code="""
send({'op': 'calls', 'more': False, 'calls': [{'name': 'f', 'arguments': {}}] * 301})
""",
    ),
    rpc(
        name="rpc: a batch without an end",
        code="""
for _ in range(300): send({'op': 'calls', 'more': True, 'calls': [{'name': 'f', 'arguments': {}}]})
""",
    ),
    rpc(
        name="rpc: a large batch in the host's memory",
        oracle="host memory",
        code="""
for _ in range(100): send({'op': 'calls', 'more': True, 'calls': [{'name': 'f', 'arguments': {'x': 'x' * 1000000}}]})
""",
    ),
    rpc(name="rpc: a call after the end", code=frame(op="done", value=1) + batch(CALL)),
    rpc(
        name="rpc: a call behind an end, in one piece",
        code="""
ends = json.dumps({'op': 'done', 'value': 1}).encode()
calls = json.dumps({'op': 'calls', 'more': False, 'calls': [{'name': 'f', 'arguments': {}}]}).encode()
os.write(CHANNEL, b''.join(len(each).to_bytes(4, 'big') + each for each in (ends, calls)))
""",
    ),
    rpc(
        name="rpc: going on after an end that it wrote itself",
        oracle="busy",
        code="""
import threading
def burn():
    while True: pass
send({'op': 'done', 'value': 1})
try:
    threading.Thread(target=burn, daemon=True).start()
except RuntimeError:
    burn()
""",
    ),
    rpc(
        name="rpc: answers that nobody reads",
        oracle="host memory",
        code="""
send({'op': 'calls', 'more': False, 'calls': [{'name': 'large', 'arguments': {}}] * 140})
import time
time.sleep(5)
""",
    ),
    rpc(
        name="rpc: half a frame",
        oracle="overran",
        code="""
os.write(CHANNEL, (1000).to_bytes(4, 'big') + b'{"op"')
import time
time.sleep(1000)
""",
    ),
    rpc(
        name="rpc: a frame byte by byte",
        oracle="overran",
        code="""
import time
os.write(CHANNEL, (1 << 20).to_bytes(4, 'big'))
while True:
    os.write(CHANNEL, b' ')
    time.sleep(0.001)
""",
    ),
    rpc(
        name="rpc: silence behind a closed channel",
        oracle="overran",
        code="""
os.close(CHANNEL)
import time
time.sleep(1000)
""",
    ),
    rpc(
        name="rpc: silence behind closed outputs",
        oracle="host",
        code="""
os.closerange(0, 3)
os.closerange(3, 256)
import time
time.sleep(1000)
""",
    ),
    rpc(
        name="rpc: the channel in the place of the output",
        oracle="host",
        code="""
os.dup2(1, CHANNEL) if CHANNEL != 3 else os.dup2(CHANNEL, 1)
os.write(CHANNEL if CHANNEL == 3 else 1, b'\\xff\\xff\\xff\\xff')
os.dup2(CHANNEL, 1)
os.write(100 if CHANNEL != 3 else 3, b'x' * 100)
os._exit(0)
""",
    ),
    rpc(
        name="rpc: descriptors stuffed into the channel",
        oracle="descriptors",
        code="""
import array, socket, time
channel = socket.socket(fileno=os.dup(CHANNEL))
some = [os.open('/dev/null', os.O_RDONLY) for _ in range(10)]
for n in range(3):
    content = json.dumps({'op': 'calls', 'more': False, 'calls': [{'name': 'f', 'arguments': {}}]}).encode()
    content = len(content).to_bytes(4, 'big') + content
    channel.sendmsg([content], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', some))])
time.sleep(0.1)
""",
    ),
    rpc(
        name="rpc: a value that is code when it is read",
        oracle="files",
        code="""
class Planted:
    def __reduce__(self): return os.mkdir, (f'{OUTSIDE}/planted',)
result = Planted()
""",
    ),
    rpc(
        name="rpc: the text of a failure in the host",
        oracle="secret",
        code="""
try:
    print(call_sync('fail'))
except Exception as error:
    print(error, error.__dict__)
    raise
""",
    ),
    rpc(
        name="rpc: an answer that cannot be sent",
        oracle="secret",
        code="""
try:
    print(call_sync('odd'))
except Exception as error:
    print(error)
""",
    ),
    rpc(
        name="rpc: many files in the host's memory",
        oracle="artifacts",
        code="""
for n in range(60):
    send({'op': 'artifact', 'name': f'f{n}', 'data': '', 'last': True})
""",
    ),
    rpc(
        name="rpc: large files in the host's memory",
        oracle="artifacts",
        code="""
import base64
data = base64.b64encode(bytes(2 << 20)).decode()
for n in range(10):
    send({'op': 'artifact', 'name': f'f{n}', 'data': data, 'last': True})
""",
    ),
    rpc(name="rpc: a file that is no base64", oracle="host", code=frame(op="artifact", name="f", data="x", last=True)),
    rpc(name="rpc: a file without a name", oracle="host", code=frame(op="artifact", name=None, data="", last=True)),
    rpc(
        name="rpc: a file's name with a zero", oracle="host", code=frame(op="artifact", name="a\0b", data="", last=True)
    ),
    rpc(
        name="rpc: an error with texts that are none",
        oracle="host",
        code=frame(op="failed", type=1, message=[], traceback={}),
    ),
)
