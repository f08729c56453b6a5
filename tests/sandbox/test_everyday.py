"""What everyday code does works, and what cannot work fails in a way that code can catch and a model can read."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import pytest

from wieldy import sandbox
from wieldy.sandbox import Session

from .conftest import Opener

pytestmark = pytest.mark.anyio

LIBRARIES = """
import array, bisect, bz2, calendar, collections, copy, csv, ctypes, dataclasses, decimal, difflib, email, enum
import fractions, functools, gzip, hashlib, heapq, hmac, html, http.client, io, itertools, json, logging, lzma, math
import mimetypes, operator, pathlib, pickle, pprint, queue, random, re, secrets, shutil, sqlite3, ssl, statistics
import string, struct, tempfile, textwrap, threading, timeit, tomllib, types, typing, unicodedata, unittest
import urllib.request, uuid, xml.etree.ElementTree, zipfile, zlib, zoneinfo, asyncio, concurrent.futures
import multiprocessing, subprocess, socket
"imported"
"""


async def test_the_standard_library_can_be_imported(session: Session) -> None:
    outcome = await session.run(LIBRARIES)
    assert (outcome.value, outcome.error) == ("imported", None)


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("import sqlite3\ndb = sqlite3.connect(':memory:')\ndb.execute('select 6 * 7').fetchone()[0]", 42),
        ("import asyncio\nloop = asyncio.new_event_loop()\nloop.run_until_complete(asyncio.sleep(0, 3))", 3),
        ("import asyncio\nawait asyncio.gather(*(asyncio.sleep(0, i) for i in range(3)))", [0, 1, 2]),
        ("import threading\nlock = threading.Lock()\nwith lock:\n    x = 1", 1),
        ("import datetime\ndatetime.date(2024, 2, 29).isoformat()", "2024-02-29"),
        ("import json, decimal\njson.loads('1.5', parse_float=decimal.Decimal) == decimal.Decimal('1.5')", True),
        ("import pickle\nclass C:\n    x = 1\npickle.loads(pickle.dumps(C())).x", 1),
        ("import warnings\nwarnings.warn('careful')\n1", 1),
        ("x = 1\nexit()", None),
        ("import sys\nsys.stdout = None\nprint('x')\n2", 2),
        ("import signal\nsignal.signal(signal.SIGALRM, lambda *_: None)\nsignal.alarm(0)\n'alarm'", "alarm"),
        ("import os\nlen(os.sched_getaffinity(0)) >= 1", True),
        ("import sys, os\n[sys.argv, os.environ.get('PYTHONHASHSEED')]", [[""], "0"]),
    ],
)
async def test_everyday_code_works(session: Session, code: str, value: Any) -> None:
    outcome = await session.run(code)
    assert (outcome.status, outcome.value, outcome.error) == ("done", value, None)


async def test_files_are_copied_packed_and_removed_as_usual(open_strongest: Opener) -> None:
    code = """
import os, pathlib, shutil, sqlite3, tempfile, zipfile
pathlib.Path("a/b").mkdir(parents=True)
pathlib.Path("a/b/c.txt").write_text("hello")
shutil.copytree("a", "copy")
shutil.copy2("a/b/c.txt", "moved.txt")
shutil.move("moved.txt", "there.txt")
os.utime("there.txt", (10**9, 10**9))
os.chmod("there.txt", 0o600)
with zipfile.ZipFile("z.zip", "w") as archive:
    archive.write("there.txt")
with zipfile.ZipFile("z.zip") as archive:
    archive.extractall("unpacked")
db = sqlite3.connect("x.db")
db.execute("create table t (a)")
db.commit()
db.close()
with tempfile.TemporaryDirectory() as directory:
    pathlib.Path(directory, "x").touch()
texts = [pathlib.Path(name).read_text() for name in ("copy/b/c.txt", "unpacked/there.txt")]
found = [*texts, os.stat("there.txt").st_mtime]
shutil.rmtree("copy")
found
"""
    async with open_strongest() as session:
        assert (await session.run(code)).value == ["hello", "hello", 1e9]


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("import socket\nsocket.create_connection(('127.0.0.1', 80))", "PermissionError"),
        ("import subprocess\nsubprocess.run(['ls'])", "PermissionError"),
        ("import os\nos.system('ls')", None),
        ("import os\nos.fork()", "PermissionError"),
        ("import threading\nthreading.Thread(target=print).start()", "RuntimeError"),
        ("import asyncio\nawait asyncio.to_thread(print)", "RuntimeError"),
        ("import multiprocessing\nmultiprocessing.Process(target=print).start()", "PermissionError"),
        ("open('/etc/passwd').read()", None),
        ("input()", "EOFError"),
    ],
)
async def test_what_cannot_work_is_an_error_that_can_be_caught(session: Session, code: str, kind: str | None) -> None:
    outcome = await session.run(code)
    if kind is None:
        assert outcome.status == "error" or outcome.value not in (0, "")
    else:
        assert outcome.error is not None
        assert outcome.error.type == kind
    catching = f"try:\n    exec({code.replace('await ', '')!r})\nexcept BaseException:\n    pass\n'on'"
    assert (await session.run(catching)).value == "on"


async def test_the_code_sees_no_name_user_and_environment_of_the_machine(open_strongest: Opener) -> None:
    os.environ["WIELDY_TEST_SECRET"] = "hunter2"
    try:
        async with open_strongest() as session:
            code = """
import os, platform, socket
[platform.node(), socket.gethostname(), os.getuid(), os.getpid() < 100, "hunter2" in repr(os.environ),
 os.listdir("/scratch"), sorted(os.listdir("/dev")), os.path.exists("/proc"),
 os.path.exists("/etc"), os.path.exists("/home")]
"""
            outcome = await session.run(code)
    finally:
        del os.environ["WIELDY_TEST_SECRET"]
    assert outcome.value == ["sandbox", "sandbox", 65534, True, False, [], ["null", "zero"], False, False, False]
    assert socket.gethostname() != "sandbox"


async def test_nothing_that_is_printed_tells_where_on_the_machine_wieldy_is(session: Session) -> None:
    code = """
import asyncio, traceback, warnings
def f():
    warnings.warn("careful")
    warnings.warn("above", stacklevel=3)
    warnings.warn("far above", stacklevel=9)
f()
async def g():
    call_sync("x", {"n": {1}})
try:
    await asyncio.gather(g(), g())
except TypeError:
    traceback.print_exc()
g()
asyncio.create_task(asyncio.sleep(0)).add_done_callback(lambda task: 1 / 0)
await asyncio.sleep(0.001)
"""
    outcome = await session.run(code)
    assert outcome.status == "done"
    assert "<code 1>:4: UserWarning: careful\n" in outcome.stderr
    assert "\nUserWarning: far above\n" in outcome.stderr
    assert "never awaited" in outcome.stderr
    assert "ZeroDivisionError" in outcome.stderr
    assert str(Path(sandbox.__file__).parent) not in outcome.stderr


@pytest.mark.parametrize("path", ["'.'", "os.__file__", "'/proc/self/exe'", "'/usr/bin/python3'", "'/nowhere/../x'"])
async def test_a_path_is_made_real_or_at_least_absolute(session: Session, path: str) -> None:
    code = f"import os, pathlib\n[os.path.realpath({path}), str(pathlib.Path({path}).resolve())]"
    outcome = await session.run(code)
    assert isinstance(outcome.value, list), outcome.error
    real, resolved = outcome.value
    assert real == resolved
    assert str(real).startswith("/")
    assert ".." not in str(real)
