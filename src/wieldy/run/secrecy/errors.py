"""Errors that leave a run say no secrets."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

from wieldy.core.errors import WieldyError

if TYPE_CHECKING:
    from wieldy.run.secrecy.entries import Secrecy


@contextmanager
def concealing(secrecy: Secrecy | None) -> Generator[None]:
    """What is raised within says no secrets."""
    try:
        yield
    except Exception as error:
        if secrecy is not None:
            conceal(error, secrecy.mask.text)
        raise


def conceal(error: BaseException, mask: Callable[[str], str]) -> None:
    """The error, and those of ours that led to it, say what they said without secrets.

    They are changed, and not replaced, so that whoever catches them finds the class and the attributes that they had.
    Errors of other programs are left alone: what they hold is not known.
    """
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        found = waiting.pop()
        if found is None or id(found) in seen:
            continue
        seen.add(id(found))
        waiting += [found.__cause__, found.__context__]
        if isinstance(found, BaseExceptionGroup):
            waiting += cast("BaseExceptionGroup[BaseException]", found).exceptions
        if isinstance(found, WieldyError):
            found.args = tuple(mask(part) if isinstance(part, str) else part for part in found.args)
