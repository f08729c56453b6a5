"""Names of tools as Python identifiers."""

import ast
import keyword
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wieldy.core.errors import UsageError
from wieldy.run.actions.code.names import identifiers, parameter_identifiers, tool_identifier

TOOL_NAMES = st.from_regex(re.compile(r"[A-Za-z0-9_-]{1,64}"), fullmatch=True)


@pytest.mark.parametrize(
    ("name", "identifier"),
    [
        ("get_weather", "get_weather"),
        ("get-weather", "get_weather"),
        ("2fa-check", "tool2fa_check"),
        ("class", "class_"),
        ("print", "print_"),
        ("asyncio", "asyncio_"),
        ("__import__", "tool__import__"),
        ("-", "tool_"),
    ],
)
def test_tools_are_renamed_by_a_fixed_rule(name: str, identifier: str) -> None:
    assert tool_identifier(name) == identifier


@given(TOOL_NAMES)
def test_every_name_of_a_tool_becomes_an_identifier_that_can_be_called_and_hides_nothing(name: str) -> None:
    identifier = tool_identifier(name)
    ast.parse(f"async def {identifier}(): pass")
    assert identifier not in dir(__builtins__) if not isinstance(__builtins__, dict) else identifier not in __builtins__
    assert not keyword.iskeyword(identifier)


def test_two_tools_with_one_identifier_are_refused_with_both_names() -> None:
    with pytest.raises(UsageError, match=r"'get-order' and 'get_order'.*`get_order`"):
        identifiers(["get-order", "get_order"])
    with pytest.raises(UsageError, match="are both `print_`"):
        identifiers(["print", "print_"])


@example(["\ufe70"])
@given(st.lists(st.text(min_size=0, max_size=20), unique=True, max_size=12))
def test_parameters_have_identifiers_that_differ_and_that_python_reads_back(names: list[str]) -> None:
    found = parameter_identifiers(names)
    assert list(found) == names
    assert len(set(found.values())) == len(names)
    [function] = ast.parse(f"def f(*, {', '.join(found.values())}): pass" if names else "def f(): pass").body
    assert isinstance(function, ast.FunctionDef)
    assert [argument.arg for argument in function.args.kwonlyargs] == list(found.values())


def test_a_parameter_keeps_its_name_where_it_can() -> None:
    assert parameter_identifiers(["from", "from_", "user-id", "id", "type"]) == {
        "from": "from__2",
        "from_": "from_",
        "user-id": "user_id",
        "id": "id",
        "type": "type",
    }
