"""Parts of the page's script by themselves, in a browser: laws that hold for every input."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any
from unicodedata import ucd_3_2_0

import pytest
from browser import Browser, Page
from hypothesis import given
from hypothesis import strategies as st

SHELL = files("wieldy.evals.reports.page") / "shell"
PROBES = """
const keys = (items) => items.map((each) => each.key);
globalThis.paired = (one, other) => joined(aligned(keys(one), keys(other)), one, other);
globalThis.shown = (text) => {
  const box = block(text), more = box.querySelector('button');
  while (more && !more.hidden) more.click();
  return [...box.querySelector('pre').childNodes].map((node) => [node.nodeType, node.textContent]);
};
globalThis.lineOf = (text) => said(text, 50).textContent;
"""


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    parts = "\n".join((SHELL / f"{name}.js").read_text(encoding="utf-8") for name in ("text", "pairs"))
    with browser.page() as page:
        page.value(f"(() => {{ {parts} {PROBES} }})()")
        yield page


def called(page: Page, name: str, *arguments: Any) -> Any:
    return page.value(f"{name}({', '.join(json.dumps(argument) for argument in arguments)})")


steps = st.lists(
    st.builds(
        lambda key, kind: {"key": f"{kind} {key}", "step": {"kind": kind}},
        st.sampled_from("abc"),
        st.sampled_from("xy"),
    ),
    max_size=9,
)


def common(one: list[str], other: list[str]) -> int:
    """The length of the longest common subsequence, by its definition."""
    if not one or not other:
        return 0
    if one[0] == other[0]:
        return 1 + common(one[1:], other[1:])
    return max(common(one[1:], other), common(one, other[1:]))


@given(one=steps, other=steps)
def test_runs_are_aligned_without_loss_and_agree_as_far_as_they_can(page: Page, one: Any, other: Any) -> None:
    pairs = called(page, "paired", one, other)
    assert [left for left, _ in pairs if left >= 0] == list(range(len(one)))
    assert [right for _, right in pairs if right >= 0] == list(range(len(other)))
    keys = [each["key"] for each in one], [each["key"] for each in other]
    agree = [left >= 0 and right >= 0 and keys[0][left] == keys[1][right] for left, right in pairs]
    assert sum(agree) == common(*keys)
    prefix = next((at for at, (a, b) in enumerate(zip(*keys, strict=False)) if a != b), min(map(len, keys)))
    assert agree[:prefix] == [True] * prefix
    assert not any(agree[prefix : prefix + 1]), "the first divergence is where they part"
    kinds = [
        (one[left]["step"]["kind"], other[right]["step"]["kind"])
        for (left, right), same in zip(pairs, agree, strict=True)
        if not same and left >= 0 and right >= 0
    ]
    assert all(a == b for a, b in kinds), "what stands opposite is of one kind"


def test_of_what_is_too_long_to_be_aligned_nothing_is_lost(page: Page) -> None:
    one = [{"key": f"one {at}", "step": {"kind": "x"}} for at in range(2100)]
    other = [{"key": f"other {at}", "step": {"kind": "x"}} for at in range(2000)]
    start, end = {"key": "start", "step": {"kind": "x"}}, {"key": "end", "step": {"kind": "x"}}
    pairs = called(page, "paired", [start, *one, end], [start, *other, end])
    assert [left for left, _ in pairs if left >= 0] == list(range(2102))
    assert [right for _, right in pairs if right >= 0] == list(range(2002))
    assert pairs[0] == [0, 0]
    assert pairs[-1] == [2101, 2001]


UNSEEN_CATEGORIES = ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")
"""By an old edition of Unicode, all of whose characters every browser knows."""

UNSEEN = st.sampled_from("\x00\x1b\x7f\x85\xad\u200b\u200e\u202e\u2028\u2066\ufeff\ue000\U000e0041\r")
texts = st.lists(
    st.text(max_size=5) | UNSEEN | st.sampled_from(["\n", "\t", "\r\n", "a" * 900, "\U0001f600"]), max_size=40
).map("".join)


def read(nodes: list[tuple[int, str]]) -> str:
    """The text again, from text nodes and from elements that write a character out."""
    return "".join(text if kind == 3 else chr(int(text.strip("\\xu{}"), 16)) for kind, text in nodes)


@given(text=texts)
def test_every_character_of_a_text_is_shown_and_none_that_shows_nothing(page: Page, text: str) -> None:
    nodes = called(page, "shown", text)
    assert read(nodes) == text
    for kind, part in nodes:
        plain = part.replace("\r\n", "").replace("\n", "").replace("\t", "")
        assert not [each for each in plain if ucd_3_2_0.category(each) in UNSEEN_CATEGORIES], (kind, part)
        assert not set(plain) & set("\u202e\u2066\u2028\u200b\ufeff\x1b")


@given(text=texts)
def test_a_short_text_is_one_line(page: Page, text: str) -> None:
    line = called(page, "lineOf", text)
    assert "\n" not in line
    assert "\r" not in line
    assert len(line) <= 51 * len("\\u{e0041}")
