"""A server of workers: it has everything imported, forks on demand, and tells how each worker ended.

One message of the control socket is one JSON object. The host sends `{"op": "spawn", "id": ...}` with three descriptors
(channel, standard output, standard error) and gets `{"op": "spawned", "id": ...}` with a descriptor of the process;
when a worker has ended, `{"op": "ended", "id": ..., "status": ..., "cpu_s": ..., "peak_bytes": ...}`. When the host
closes the socket, or dies, this process ends and the kernel ends the workers.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import socket
from typing import Any, NoReturn

from .guest.serving import warm_up
from .worker import Prepared, become_worker

_MESSAGE_BYTES = 65536


def send(control: socket.socket, message: dict[str, Any], descriptors: tuple[int, ...] = ()) -> None:
    """The host has the message."""
    socket.send_fds(control, [json.dumps(message).encode()], list(descriptors))


def receive(control: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """The host's next message; ends this process when there will be none."""
    content, descriptors, _, _ = socket.recv_fds(control, _MESSAGE_BYTES, 8)
    if not content:
        os._exit(0)
    return json.loads(content), descriptors


def preload(packages: tuple[str, ...]) -> None:
    """The packages are imported and whatever is alive now is shared by all workers."""
    for package in packages:
        importlib.import_module(package)
    if "matplotlib" in packages:
        importlib.import_module("matplotlib.pyplot")
    warm_up()
    gc.collect()
    gc.freeze()


class Zygote:
    """Forks workers and watches them."""

    def __init__(self, control: socket.socket, prepared: Prepared) -> None:
        self._control = control
        self._prepared = prepared
        self._poll = select.poll()
        self._poll.register(control.fileno(), select.POLLIN)
        self._workers: dict[int, tuple[int, int]] = {}  # by the descriptor of the process: process id, worker's id

    def serve(self) -> NoReturn:
        """Answers until the host is gone."""
        while True:
            for descriptor, _ in self._poll.poll():
                if descriptor == self._control.fileno():
                    message, descriptors = receive(self._control)
                    self._spawn(message["id"], descriptors)
                else:
                    self._reap(descriptor)

    def _spawn(self, worker: int, descriptors: list[int]) -> None:
        pid = os.fork()
        if pid == 0:
            channel, output, errors = descriptors
            become_worker(self._prepared, (channel, output, errors))
        for each in descriptors:
            os.close(each)
        process = os.pidfd_open(pid)
        self._workers[process] = pid, worker
        self._poll.register(process, select.POLLIN)
        send(self._control, {"op": "spawned", "id": worker}, (process,))

    def _reap(self, process: int) -> None:
        pid, worker = self._workers.pop(process)
        self._poll.unregister(process)
        os.close(process)
        _, status, used = os.wait4(pid, 0)
        ended = {
            "op": "ended",
            "id": worker,
            "status": os.waitstatus_to_exitcode(status),
            "cpu_s": used.ru_utime + used.ru_stime,
            "peak_bytes": used.ru_maxrss * 1024,
        }
        send(self._control, ended)
