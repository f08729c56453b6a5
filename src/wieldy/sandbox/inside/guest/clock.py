"""A clock that stands: it moves by what the code waits for and by what the host says, never by what passes outside.

`time` and `datetime` are replaced in their modules; code that imported the originals by name in an earlier run keeps
them. Waiting moves the clock and takes no time. Deliberately not covered: extensions that ask the kernel, and waiting
for locks, which nobody else in the process can open.
"""

from __future__ import annotations

import datetime
import math
import time
from typing import Any, cast

_time, _localtime, _gmtime, _strftime = time.time, time.localtime, time.gmtime, time.strftime
_asctime, _ctime, _monotonic, _sleep = time.asctime, time.ctime, time.monotonic, time.sleep
_Date, _Datetime = datetime.date, datetime.datetime


class Clock:
    """Stands at `now` (seconds since 1970 in UTC), or is the real one while that is None."""

    def __init__(self) -> None:
        self.now: float | None = None
        self._is_installed = False

    def stand_at(self, now: float | None) -> None:
        """The code's time is this from now on; None gives it the real time back."""
        self.now = now
        if now is not None and not self._is_installed:
            self._install()
            self._is_installed = True

    def move(self, now: float) -> None:
        """Time has passed for the host; the clock goes forwards only, and only if it stands."""
        if self.now is not None:
            self.now = max(self.now, now)

    def time(self) -> float:
        """Seconds since 1970."""
        return _time() if self.now is None else self.now

    def monotonic(self) -> float:
        """Seconds since some time: 1970 if it stands."""
        return _monotonic() if self.now is None else self.now

    def sleep(self, seconds: float) -> None:
        """So much later: at once if the clock stands.

        Raises:
            ValueError: That is before now, or never.
        """
        if self.now is None:
            _sleep(seconds)
        elif 0 <= seconds < math.inf:
            self.now += seconds
        else:
            raise ValueError(f"expected a length of sleep of 0 or more seconds, found {seconds}")

    def wait_until(self, monotonic: float) -> None:
        """It is that time, or later."""
        if self.now is None:
            _sleep(max(0.0, monotonic - _monotonic()))
        else:
            self.move(monotonic)

    def _install(self) -> None:
        patched = cast("Any", time)
        patched.time = self.time
        patched.time_ns = lambda: int(self.time() * 1e9)
        for name in ("monotonic", "perf_counter", "process_time", "thread_time"):
            patched.__dict__[name] = self._or_standing(getattr(time, name))
            patched.__dict__[f"{name}_ns"] = self._or_standing_ns(getattr(time, f"{name}_ns"))
        patched.localtime, patched.gmtime, patched.ctime = map(self._of_seconds, (_localtime, _gmtime, _ctime))
        patched.asctime, patched.strftime, patched.sleep = self._asctime, self._strftime, self.sleep
        replaced = cast("Any", datetime)
        replaced.date, replaced.datetime = _standing_types(self)

    def _of_seconds(self, real: Any) -> Any:
        def function(seconds: float | None = None) -> Any:
            return real(self.time() if seconds is None else seconds)

        return function

    def _asctime(self, parts: Any = None) -> str:
        return _asctime(_localtime(self.time()) if parts is None else parts)

    def _strftime(self, form: str, parts: Any = None) -> str:
        return _strftime(form, _localtime(self.time()) if parts is None else parts)

    def _or_standing(self, real: Any) -> Any:
        return lambda: real() if self.now is None else self.now

    def _or_standing_ns(self, real: Any) -> Any:
        return lambda: real() if self.now is None else int(self.now * 1e9)


def _standing_types(clock: Clock) -> tuple[type, type]:
    """`date` and `datetime` that ask the clock; instances of the originals are instances of them."""

    class _Kind(type):
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, _Datetime if cls.__name__ == "datetime" else _Date)

        def __subclasscheck__(cls, subclass: type) -> bool:
            return issubclass(subclass, _Datetime if cls.__name__ == "datetime" else _Date)

    class Date(_Date, metaclass=_Kind):
        @classmethod
        def today(cls) -> Any:
            return cls.fromtimestamp(clock.time())

    class Datetime(_Datetime, metaclass=_Kind):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return cls.fromtimestamp(clock.time(), tz)

        @classmethod
        def today(cls) -> Any:
            return cls.now()

        @classmethod
        def utcnow(cls) -> Any:
            return cls.fromtimestamp(clock.time(), datetime.UTC).replace(tzinfo=None)

    for kind, name in ((Date, "date"), (Datetime, "datetime")):
        kind.__name__ = kind.__qualname__ = name
        kind.__module__ = "datetime"
    return Date, Datetime
