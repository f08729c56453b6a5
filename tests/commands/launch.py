"""`wieldy ARGUMENT...`, in a process that `forking` makes: `python -I -S launch.py SOCKET ARGUMENT...`.

From outside it is the command: its streams, folder and environment are the command's, and so is the way it ends.
"""

import marshal
import os
import signal
import socket
import sys


def main() -> None:
    place, *arguments = sys.argv[1:]
    if any(name.startswith("PYTHON") for name in os.environ):  # read by an interpreter only when it starts
        os.execv(sys.executable, [sys.executable, "-W", "error", "-m", "wieldy.apps.cli.main", *arguments])
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(place)
        socket.send_fds(connection, [b"-"], [0, 1, 2])
        connection.sendall(marshal.dumps([arguments, dict(os.environ), os.getcwd()]))  # noqa: PTH109 - pathlib takes longer than all else
        code = int(connection.recv(16))
    if code < 0:  # as the command did, by a signal
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)


main()
