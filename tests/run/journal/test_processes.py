"""A process is told from every other one, also from a later one of the same number."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from wieldy.run.journal.processes import is_alive, this_process


def test_this_process_is_alive_and_the_same_each_time() -> None:
    here = this_process()
    assert here == this_process()
    assert here.pid == os.getpid()
    assert is_alive(here)
    assert str(here) == f"process {here.pid} on {here.host}"


def test_a_process_that_ended_is_dead_before_and_after_somebody_waits_for_it() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as ended:
        other = replace(this_process(), pid=ended.pid, started="")
        assert is_alive(other)
        ended.kill()
        # It stays in the system's list until it is waited for, which `waitid` here does not do.
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        assert not is_alive(other)
    assert not is_alive(other)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells when a process started")
def test_a_later_process_of_the_same_number_is_another_one() -> None:
    here = this_process()
    assert here.started
    assert not is_alive(replace(here, started="1"))


def test_somebody_elses_process_is_alive() -> None:
    assert is_alive(replace(this_process(), pid=1, started=""))


@pytest.mark.parametrize("pid", [2**31 - 1, 2**80, 0, -1])
def test_a_number_that_no_process_has_is_dead(pid: int) -> None:
    assert not is_alive(replace(this_process(), pid=pid, started="5"))
