"""What a rule may name: the values of its fields, read and checked when the rule is made.

Pure. Deliberately not here: conditions about arguments (`conditions`) and when a rule matches (`rules`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import TypeAlias, cast, get_args

from wieldy.core.calls import Effect, Risk
from wieldy.core.errors import UsageError
from wieldy.run.policy.paths import read_path, render_path

Texts: TypeAlias = str | Collection[str]
"""One text, or several of which one will do."""

_TOOL_PATTERN = re.compile(r"[A-Za-z0-9_\-*?\[\]!]+")


def read_texts(given: object) -> tuple[str, ...]:
    """The texts, one or more.

    Raises:
        UsageError: They are something else, or there are none.
    """
    if isinstance(given, str):
        given = (given,)
    if isinstance(given, set | frozenset):
        given = sorted(cast("Iterable[str]", given), key=repr)
    if isinstance(given, list | tuple) and given:
        texts = tuple(cast("Iterable[object]", given))
        if all(isinstance(text, str) and text for text in texts):
            return cast("tuple[str, ...]", texts)
    # A list that came out empty by mistake must not make a rule that matches everything.
    raise UsageError(f"expected a text, or a list of one or more, found {given!r}. Leave it out to match all.")


def read_tools(given: object) -> tuple[str, ...]:
    """Names of tools, in which `*`, `?` and `[...]` may stand.

    Raises:
        UsageError: One of them can be no tool's name.
    """
    patterns = read_texts(given)
    for pattern in patterns:
        if not _TOOL_PATTERN.fullmatch(pattern):
            raise UsageError(
                "expected names of tools, which have letters A-Z, digits, '_' and '-', or patterns such as 'shop_*', "
                f"found {pattern!r}."
            )
    return patterns


def read_effects(given: object) -> tuple[str, ...]:
    """Effects of tools.

    Raises:
        UsageError: One of them is none.
    """
    return _among(get_args(Effect), given)


def read_risks(given: object) -> tuple[str, ...]:
    """Risk levels.

    Raises:
        UsageError: One of them is none.
    """
    return _among(get_args(Risk), given)


def read_paths(given: object) -> tuple[str, ...] | bool:
    """Paths of arguments; True stands for any of them, False for none.

    Raises:
        UsageError: One of them is no path.
    """
    if isinstance(given, bool):
        return given
    return tuple(render_path(read_path(path)) for path in read_texts(given))


def read_truth(given: object) -> bool:
    """True or false.

    Raises:
        UsageError: It is neither.
    """
    if isinstance(given, bool):
        return given
    raise UsageError(f"expected true or false, found {given!r}. Leave it out to match both.")


def read_permission(given: object) -> str:
    """The name of one permission.

    Raises:
        UsageError: It is none.
    """
    if isinstance(given, str) and given.strip() and given == given.strip() and "*" not in given:
        return given
    raise UsageError(f"expected the name of one permission, such as 'orders:write', found {given!r}.")


def _among(known: tuple[str, ...], given: object) -> tuple[str, ...]:
    texts = read_texts(given)
    for text in texts:
        if text not in known:
            raise UsageError(f"expected {', '.join(map(repr, known))}, found {text!r}.")
    return texts
