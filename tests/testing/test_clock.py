"""A clock that stands still."""

import pytest

from wieldy.core.errors import UsageError
from wieldy.testing import FakeClock


def test_time_passes_only_when_it_is_told_to():
    clock = FakeClock(10.0)
    assert (clock(), clock.now(), clock.time()) == (10.0, 10.0, 10.0)
    clock.advance(2.5)
    assert clock() == clock.now() == clock.time() == 12.5


@pytest.mark.parametrize("seconds", [-1, float("nan")])
def test_time_does_not_go_back(seconds):
    with pytest.raises(UsageError, match="at least 0 s"):
        FakeClock().advance(seconds)
