"""Runs the commands that `launch` asks for, each in a process that is forked from this one: `python forking.py SOCKET`.

This one has imported the command line and done nothing else, which spares each command most of its CPU time. What a
command does with its arguments, streams, folder and environment, and the way it ends, are as in a process that was
started for it. It says a line when it listens, and ends when its standard input does.
"""

import gc
import importlib
import marshal
import os
import pkgutil
import select
import signal
import socket
import sys
import threading
from typing import IO, Any

import wieldy.apps.cli
from wieldy.apps.cli.main import main

LATER = ("wieldy.connect.models.openai", "wieldy.connect.mcp.client", "wieldy.gateway.application")
"""What the commands import only when they need it."""


def listen(place: str) -> None:
    """Ends when standard input does; returns in each process that has become a command."""
    for module in pkgutil.iter_modules(wieldy.apps.cli.__path__, "wieldy.apps.cli."):
        importlib.import_module(module.name)
    for name in LATER:
        importlib.import_module(name)
    gc.freeze()  # otherwise each command would look through all that was imported once more when it ends
    assert threading.active_count() == 1  # only the thread that forks is there afterwards
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place)
        listener.listen()
        sys.stdout.write("listening\n")
        sys.stdout.flush()
        attending: set[int] = set()
        while listener in select.select([listener, sys.stdin], [], [])[0]:
            attending -= {each for each in attending if os.waitpid(each, os.WNOHANG) != (0, 0)}
            connection, _ = listener.accept()
            if (attendant := os.fork()) == 0:
                listener.close()
                attend(connection)
                return
            attending.add(attendant)
            connection.close()
    sys.exit()


def attend(connection: socket.socket) -> None:
    """Ends with the command, and tells how that ended; ends it where its caller goes away; returns in the command."""
    _, streams, _, _ = socket.recv_fds(connection, 1, 3)
    with connection.makefile("rb") as asked:
        arguments, environment, folder = marshal.load(asked)
    command = os.fork()
    if command == 0:
        connection.close()
        become(arguments, environment, folder, streams)
        return
    for stream in (*streams, 0, 1, 2):
        os.close(stream)
    if connection in select.select([connection, os.pidfd_open(command)], [], [])[0]:
        os.kill(command, signal.SIGKILL)
    _, status = os.waitpid(command, 0)
    connection.sendall(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def become(arguments: list[str], environment: dict[str, str], folder: str, streams: list[int]) -> None:
    """This process is as one that was started so."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.dup2(streams[number], number)
        os.close(streams[number])
        setattr(sys, name, _as_at_a_start(number, getattr(sys, name)))
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv[1:], sys.path[0] = arguments, folder
    sys.modules["__main__"] = sys.modules["wieldy.apps.cli.main"]  # which further processes of Python begin with


def _as_at_a_start(number: int, before: Any) -> IO[str]:
    how, buffering = ("r", "w", "w")[number], (-1, -1, 1)[number]  # what is said of errors is seen line by line
    return open(number, how, buffering, before.encoding, before.errors, closefd=False)


listen(sys.argv[1])
main()
