"""The end of a program and calls that are still open."""

import threading

import pytest

from wieldy.connect.models.foreign_calls import ForeignCalls
from wieldy.core.errors import ProviderError


def test_the_end_waits_for_open_calls_and_lets_none_begin() -> None:
    calls, is_inside, may_leave = ForeignCalls(), threading.Event(), threading.Event()
    order: list[str] = []

    def work() -> None:
        with calls.one():
            is_inside.set()
            may_leave.wait(60)
            order.append("call is over")

    def end() -> None:
        calls.end()
        order.append("end")

    threads = [threading.Thread(target=work), threading.Thread(target=end)]
    threads[0].start()
    assert is_inside.wait(60)
    assert not calls.is_ending
    threads[1].start()
    may_leave.set()
    for thread in threads:
        thread.join(60)
    assert order == ["call is over", "end"]
    assert calls.is_ending
    with pytest.raises(ProviderError, match="The program is ending"), calls.one():
        pass


def test_a_call_that_fails_is_over() -> None:
    calls = ForeignCalls()
    with pytest.raises(ZeroDivisionError), calls.one():
        _ = 1 / 0
    calls.end()
