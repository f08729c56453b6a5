"""Tools as a tree that code looks around in."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy import ToolDefinition, UsageError
from wieldy.run.actions.code.tree import MOST_LINES, Tree

TEXT = {"type": "string"}


def definition(name: str, description: str = "", **properties: object) -> ToolDefinition:
    schema = {"type": "object", "properties": dict(properties), "required": list(properties)}
    return ToolDefinition(name=name, description=description, input_schema=schema)  # pyright: ignore[reportArgumentType]


GITHUB = [
    definition("github__create_issue", "Create an issue.\n\nIn one repository.", owner=TEXT, title=TEXT),
    definition("github__list_issues", "List issues.", owner=TEXT),
    definition("mail__send", "Send an email.", to=TEXT),
    definition("refund", "Give money back.", order=TEXT),
]


def test_the_root_lists_the_servers() -> None:
    assert Tree(GITHUB).listing() == "github/: 2 tools\nmail/: 1 tool\nown/: 1 tool"


def test_a_server_lists_its_tools_with_a_line_each() -> None:
    tree = Tree(GITHUB)
    assert tree.listing("github") == "create_issue: Create an issue.\nlist_issues: List issues."
    assert tree.listing("/servers/github/") == tree.listing("github")
    assert tree.listing("github/list_*") == "list_issues: List issues."
    assert "Nothing" in tree.listing("github/delete_*")


def test_a_long_listing_says_what_is_left() -> None:
    tree = Tree(definition(f"big__tool_{number:04}") for number in range(MOST_LINES + 1_000))
    lines = tree.listing("big").splitlines()
    assert len(lines) == MOST_LINES + 1
    assert "1,000 more" in lines[-1]


@pytest.mark.parametrize(
    "name", ["github.create_issue", "servers/github/create_issue", "github/create_issue.pyi", "github__create_issue"]
)
def test_a_stub_has_the_types(name: str) -> None:
    stub = Tree(GITHUB).stub(name)
    assert "async def create_issue(owner: str, title: str)" in stub
    assert stub.startswith("# github.create_issue\n")


@pytest.mark.parametrize("wrong", ["github.create_isue", "gitub.create_issue", "", "servers", "github", "."])
def test_a_name_that_is_none_is_told_with_what_is_near(wrong: str) -> None:
    with pytest.raises(UsageError, match="github"):
        Tree(GITHUB).stub(wrong)


def test_a_server_that_is_none_is_told() -> None:
    with pytest.raises(UsageError, match="github, mail, own"):
        Tree(GITHUB).listing("gitlab")


def test_two_tools_with_one_name_in_python_are_refused() -> None:
    with pytest.raises(UsageError, match="send_mail"):
        Tree([definition("mail__send-mail"), definition("mail__send_mail")])
    Tree([definition("a__send-mail"), definition("b__send_mail")])  # other servers, other places


def test_what_a_model_reads_is_counted() -> None:
    report = Tree(GITHUB).report()
    assert report.tools == 4
    assert report.servers < report.names < report.stubs
    assert report.definitions > report.names


@given(st.lists(st.from_regex(r"[a-z]{1,6}(__[a-z]{1,6})?(-[a-z]{1,3})?", fullmatch=True), max_size=8, unique=True))
def test_every_tool_is_found_by_each_of_its_names_and_its_stub_is_python(names: list[str]) -> None:
    definitions = [definition(name, f"Does {name}.", first=TEXT) for name in names]
    try:
        tree = Tree(definitions)
    except UsageError:
        return  # two of them are one in Python
    assert {leaf.definition.name for leaf in tree.leaves()} == set(names)
    for leaf in tree.leaves():
        assert tree.leaf(leaf.name) is tree.leaf(leaf.path) is tree.leaf(leaf.definition.name) is leaf
        assert leaf.line in tree.listing(leaf.server)
        ast.parse(tree.stub(leaf.path))
        assert leaf.server.isidentifier()
        assert leaf.function.isidentifier()


def test_a_type_that_several_tools_have_is_written_once() -> None:
    issue = {"type": "object", "properties": {"id": {"type": "integer"}, "url": TEXT}, "required": ["id"]}
    comment = {"type": "object", "properties": {"note": TEXT}}
    tree = Tree(
        replace(definition(name, owner=TEXT), output_schema=schema)
        for name, schema in (("a__make", issue), ("a__find", {"type": "array", "items": issue}), ("b__make", comment))
    )
    stub = tree.stub("a.make", "a.find", "b.make", "a.make")
    assert stub.count("class MakeResult(TypedDict):") == 1
    assert "async def find(owner: str) -> list[MakeResult]" in stub
    assert "# b.make\nclass MakeResult2(TypedDict, total=False):\n    note: str\n" in stub
    assert stub.count("async def make(") == 2
    assert "class FindResultItem(TypedDict):" in tree.stub("a.find")
    ast.parse(stub)


def test_of_what_is_said_the_first_sentences_are_shown_and_nothing_that_names_say() -> None:
    schema: Any = {
        "type": "object",
        "properties": {"title": {"type": "string", "description": "The title of the issue."}},
    }
    schema["properties"]["body"] = {"type": "string", "description": f"The contents. {'More of them. ' * 20}"}
    tool = ToolDefinition(name="s__issue", description="", input_schema=schema)
    stub = Tree([tool]).stub("s.issue")
    assert "title:" not in stub.partition('"""')[2]
    assert (
        "body: The contents. More of them. More of them. More of them.\n" in f"{stub.partition(chr(34) * 3)[2][:-3]}\n"
    )


def test_of_fields_the_fewer_are_marked() -> None:
    integer = {"type": "integer"}
    few = {"type": "object", "properties": {"id": integer, "a": integer, "b": integer}, "required": ["id"]}
    most = {"type": "object", "properties": {"id": integer, "a": integer}, "required": ["id"]}
    for schema, text in (
        (few, "(TypedDict, total=False):\n    id: Required[int]\n    a: int\n    b: int\n"),
        (most, "(TypedDict):\n    id: int\n    a: NotRequired[int]\n"),
    ):
        assert text in Tree([replace(definition("a__get"), output_schema=schema)]).stub("a.get")
