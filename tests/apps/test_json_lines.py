from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from wieldy.apps.cli.json_lines import json_line

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), values))
def test_every_value_is_one_ascii_line_of_strict_json(value: dict[str, object]) -> None:
    line = json_line(value)

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    assert line.isascii()
    assert line.count("\n") == 1
    assert set(json.loads(line, parse_constant=refuse)) == set(value)


def test_numbers_that_json_lacks_become_null_at_any_depth() -> None:
    assert json_line({"a": [float("nan"), {"b": float("inf")}, 1.5]}) == '{"a": [null, {"b": null}, 1.5]}\n'
