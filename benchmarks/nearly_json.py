"""What `read_json` and other readers of nearly right JSON make of 48 texts, and how the cost of `read_json` grows.

    pip install --target READERS json-repair fast-json-repair dirtyjson json5 pyjson5 demjson3 jiter partial-json-parser
    PYTHONPATH=READERS python benchmarks/nearly_json.py

Readers that are not installed are left out. Of the texts 27 have one reading and 21 have several or none; `read_json`
was written with them at hand, so for it they are a check and no measure of what it does with others.
"""

from __future__ import annotations

import importlib
import json
import time
from collections.abc import Callable
from typing import Any

from wieldy.schema.repair import read_json

ONE_READING: list[tuple[str, Any]] = [
    ('{"a": 1}', {"a": 1}),
    ('```json\n{"a": 1}\n```', {"a": 1}),
    ('Sure! Here it is:\n```json\n{"a": [1, 2]}\n```\nHope it helps.', {"a": [1, 2]}),
    ('{"a": 1, "b": [1, 2,],}', {"a": 1, "b": [1, 2]}),
    ('{"a": 1, // one\n "b": 2 /* two */}', {"a": 1, "b": 2}),
    ('{"a": "line one\nline two"}', {"a": "line one\nline two"}),
    ("{'a': 'b', 'c': True, 'd': None}", {"a": "b", "c": True, "d": None}),
    ("{“a”: “b”}", {"a": "b"}),
    ('{a: 1, b_c: "x"}', {"a": 1, "b_c": "x"}),
    ('{"a": [1, 2, {"b": "c"', {"a": [1, 2, {"b": "c"}]}),
    ('{"a": "unfinished te', {"a": "unfinished te"}),
    ('{"a": 1 "b": 2}', {"a": 1, "b": 2}),
    ('["x" "y"]', ["x", "y"]),
    ('{"a": "he said "yes" and left", "b": 1}', {"a": 'he said "yes" and left', "b": 1}),
    ('{"re": "\\d+\\s"}', {"re": "\\d+\\s"}),
    ('{"a": "it\\\'s"}', {"a": "it's"}),
    ('{"p": "C:\\Users\\me"}', {"p": "C:\\Users\\me"}),
    ("{'a': 'it's fine'}", {"a": "it's fine"}),
    ('{"html": "<a href="x.html">go</a>"}', {"html": '<a href="x.html">go</a>'}),
    ('{"md": "```py\nx = {1: 2}\n```"}', {"md": "```py\nx = {1: 2}\n```"}),
    ('{"a": "b} and {c"} trailing', {"a": "b} and {c"}),
    ('{"url": "http://x/y", b: 1}', {"url": "http://x/y", "b": 1}),
    ("{city: Paris}", {"city": "Paris"}),
    ('{"a": "x"}}', {"a": "x"}),
    ('{"a": [1, 2}', {"a": [1, 2]}),
    ('{"a": .5, "b": +1}', {"a": 0.5, "b": 1}),
    ('{"emoji": "\\ud83d\\ude00", \'x\': 1}', {"emoji": "😀", "x": 1}),
]
SEVERAL_OR_NONE: list[str] = [
    '{"a": 1, "a": 2}',
    '{"a": NaN}',
    '{"a": 1} {"b": 2}',
    '"a": {"b": 1}}',
    '{"a": {"b": 1} oops, "c": 2}',
    '{"a": 1}, "b": 2}',
    '{"d": 2026-11-29}',
    '{"n": 007}',
    '{"n": 1,000}',
    '{"a": tru',
    '{"a": 1, "b":',
    '{"a": 1, "b',
    '{"city": "Paris}',
    '["say "a", "b" and c", "d"]',
    '{"a": "abc, "b": 1}',
    '{"a" 1, "b": 2}',
    "I could not find the order.",
    '{"a": undefined}',
    '{"n": 1e999}',
    "[2026-11-29]",
    '{x: {"a": 1} y}',
]


def readers() -> dict[str, Callable[[str], Any]]:
    found: dict[str, Callable[[str], Any]] = {"read_json": lambda text: read_json(text).value}
    others: dict[str, tuple[str, Callable[[Any, str], Any]]] = {
        "json-repair": ("json_repair", lambda module, text: module.loads(text)),
        "json-repair, strict": ("json_repair", lambda module, text: module.loads(text, strict=True)),
        "fast-json-repair": ("fast_json_repair", lambda module, text: module.loads(text)),
        "dirtyjson": ("dirtyjson", lambda module, text: module.loads(text)),
        "json5": ("json5", lambda module, text: module.loads(text)),
        "pyjson5": ("pyjson5", lambda module, text: module.decode(text)),
        "demjson3": ("demjson3", lambda module, text: module.decode(text)),
        "jiter, partial": ("jiter", lambda module, text: module.from_json(text.encode(), partial_mode="on")),
        "partial-json-parser": ("partial_json_parser", lambda module, text: module.loads(text)),
    }
    for name, (module_name, read) in others.items():
        try:
            module = importlib.import_module(module_name)
        except ImportError:
            continue
        found[name] = lambda text, module=module, read=read: read(module, text)
    return found


def outcome(read: Callable[[str], Any], text: str) -> str | None:
    """The value as JSON; None where the reader refuses, however it does."""
    try:
        return json.dumps(read(text), default=repr)
    except Exception:  # Other people's readers fail in many ways, all of them refusals here.
        return None


def cpu_s(read: Callable[[str], Any], text: str) -> float:
    start = time.process_time()
    outcome(read, text)
    return time.process_time() - start


def growing(rows: int) -> str:
    return "[" + ", ".join(f"{{'name': 'item {row}', 'n': {row}, 'ok': True}}" for row in range(rows)) + "]"


def main() -> None:
    print(f"{len(ONE_READING)} with one reading | {len(SEVERAL_OR_NONE)} with several or none")
    print(f"{'':22}{'right':>7}{'wrong':>7}{'refused':>9} |{'refused':>9}{'guessed':>9}")
    for name, read in readers().items():
        outcomes = [(outcome(read, text), json.dumps(value)) for text, value in ONE_READING]
        right = sum(found == expected for found, expected in outcomes)
        refused = sum(found is None for found, _ in outcomes)
        unclear = sum(outcome(read, text) is None for text in SEVERAL_OR_NONE)
        wrong, guessed = len(outcomes) - right - refused, len(SEVERAL_OR_NONE) - unclear
        print(f"{name:22}{right:7}{wrong:7}{refused:9} |{unclear:9}{guessed:9}")
    for rows in (5_000, 20_000):
        text = growing(rows)
        print(f"read_json, {len(text):,} characters in Python's notation: {cpu_s(readers()['read_json'], text):.2f} s")


if __name__ == "__main__":
    main()
