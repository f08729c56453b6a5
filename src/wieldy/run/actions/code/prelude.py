"""What code finds in its namespace before it begins: the tools as functions, and results that have attributes.

The text runs in the sandbox, where the guest has put `call` and `call_sync`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from wieldy.run.actions.code.stubs import function_of

if TYPE_CHECKING:
    from wieldy.run.actions.code.stubs import Stubs

_HELP: Final = """
import asyncio, json
class _wieldy_Object(dict):
    __slots__ = ()
    __qualname__ = __name__ = "Result"
    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(f"there is no {name!r} here: expected one of {', '.join(map(repr, self))}")
    def __setattr__(self, name, value):
        self[name] = value
def _wieldy_data(value):
    if isinstance(value, dict):
        return _wieldy_Object((name, _wieldy_data(item)) for name, item in value.items())
    if isinstance(value, list):
        return [_wieldy_data(item) for item in value]
    return value
_wieldy_result = _wieldy_data
_wieldy_left_out = type("LeftOut", (), {"__repr__": lambda self: "left out"})()
def _wieldy_given(parameters, others):
    given = {n: v for n, v, takes_none in parameters if v is not _wieldy_left_out and (takes_none or v is not None)}
    return {**others, **given}
_wieldy_call, _wieldy_call_sync = call, call_sync
"""


def prelude_of(stubs: Stubs) -> str:
    """The text that defines everything which `checking` takes for known."""
    return _HELP + "".join(function_of(stub) for stub in stubs.by_identifier.values()) + stubs.guest
