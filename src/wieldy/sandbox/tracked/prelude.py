"""Functions that call what they are given, written in the code that is tracked: their labels come by themselves.

Names with two underscores in front are ours; code that is to be tracked cannot have them.
"""

from __future__ import annotations

from typing import Final

PRELUDE: Final = """
def any(items):
    for item in items:
        if item:
            return True
    return False

def all(items):
    for item in items:
        if not item:
            return False
    return True

def map(function, items, *more):
    if more:
        return (function(*row) for row in zip(items, *more))
    return (function(item) for item in items)

def filter(function, items):
    if function is None:
        return (item for item in items if item)
    return (item for item in items if function(item))

def sorted(items, *, key=None, reverse=False):
    items = list(items)
    return __sort(items, items if key is None else [key(item) for item in items], reverse)

def min(*items, key=None, default=...):
    items = list(items[0]) if len(items) == 1 else list(items)
    if not items:
        if default is ...:
            raise ValueError("min() of nothing")
        return default
    return __extreme(items, items if key is None else [key(item) for item in items], False)

def max(*items, key=None, default=...):
    items = list(items[0]) if len(items) == 1 else list(items)
    if not items:
        if default is ...:
            raise ValueError("max() of nothing")
        return default
    return __extreme(items, items if key is None else [key(item) for item in items], True)
"""
