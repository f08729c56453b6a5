"""The tree of a real browser as a page: whatever the tree, controls are numbered and each is told once."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from wieldy.evals.tasks.sites.accessibility import read_tree


def node(number: int, role: str, name: str = "", *children: int, **more: Any) -> dict[str, Any]:
    said = {key: {"value": value} for key, value in more.items() if key == "value"}
    properties = [{"name": key, "value": {"value": value}} for key, value in more.items() if key != "value"]
    return {
        "nodeId": str(number),
        "role": {"value": role},
        "name": {"value": name},
        "childIds": list(map(str, children)),
        "backendDOMNodeId": 100 + number,
        "properties": properties,
        **said,
    }


def test_a_tree_is_told_in_its_order() -> None:
    told = read_tree(
        [
            node(0, "RootWebArea", "Odd  ends", 1, 3, 8, 12, 20, 21, 22),
            node(1, "heading", "Things", 2),
            node(2, "StaticText", "Things"),
            node(3, "paragraph", "", 4, 5, 7),
            node(4, "StaticText", "One "),
            node(5, "strong", "", 6),
            node(6, "StaticText", "bold"),
            node(7, "StaticText", " word."),
            node(8, "row", "", 9, 10),
            node(9, "cell", "a", 11),
            node(10, "cell", "b", 13),
            node(11, "StaticText", "a"),
            node(13, "StaticText", "b"),
            node(12, "combobox", "Colour", 14, value="Blue"),
            node(14, "MenuListPopup", "", 15, 16),
            node(15, "option", "Red", selected=False),
            node(16, "option", "Blue", selected=True),
            node(20, "checkbox", "News", checked="true"),
            node(21, "textbox", "Mail", disabled=True, value="a@b.example"),
            {**node(22, "generic", "", 23), "ignored": True},
            node(23, "link", "More", 24),
            node(24, "StaticText", "More"),
        ]
    )
    assert told.page.text.split("\n") == [
        "Page: Odd  ends",
        "# Things",
        "One bold word.",
        "a | b",
        '[1] combobox "Colour": "Blue" of Red, Blue',
        '[2] checkbox "News": on',
        '[3] textbox "Mail (disabled)": "a@b.example"',
        '[4] link "More"',
    ]
    assert told.elements == [112, 120, 121, 123]


TOLD = ("link", "button", "textbox", "combobox", "option", "checkbox", "Date", "Iframe", "image", "StaticText")
APART = ("RootWebArea", "heading", "paragraph", "row", "cell", "LineBreak", "generic", "ListMarker", "strong", "other")
ROLES = st.sampled_from((*TOLD, *APART))
VALUES = st.one_of(st.none(), st.booleans(), st.text(alphabet="ab \n|#", max_size=5), st.integers())
PROPERTIES = st.sampled_from(["checked", "selected", "disabled", "focusable", "editable"])


@st.composite
def trees(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Nodes that may name any others, themselves and those before them among them."""
    count = draw(st.integers(0, 8))
    return [
        {
            "nodeId": str(number),
            "ignored": draw(st.booleans()),
            "childIds": draw(st.lists(st.integers(0, count + 1).map(str), max_size=4)),
            **draw(st.fixed_dictionaries({}, optional={"backendDOMNodeId": st.integers(1, 9)})),
            **{
                name: {"value": draw(ROLES if name == "role" else VALUES)}
                for name in ("role", "name", "value")
                if draw(st.booleans())
            },
            "properties": [{"name": draw(PROPERTIES), "value": {"value": draw(VALUES)}}] if draw(st.booleans()) else [],
        }
        for number in range(count)
    ]


@given(trees())
def test_whatever_the_tree_controls_are_numbered_from_one_and_each_has_its_element(tree: list[dict[str, Any]]) -> None:
    told = read_tree(tree)
    numbers = [int(number) for number in re.findall(r"^\[(\d+)\] ", told.page.text, re.MULTILINE)]
    assert numbers == list(range(1, len(told.page.controls) + 1))
    assert len(told.elements) == len(told.page.controls)


def test_a_tree_may_be_as_deep_as_it_likes() -> None:
    deep = [node(number, "generic", "", number + 1) for number in range(5000)]
    assert read_tree([*deep, node(5000, "button", "Down here")]).page.text == '[1] button "Down here"'
