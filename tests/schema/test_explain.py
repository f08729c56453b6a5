"""The text that a model reads names the place, what was found and what would fit."""

from wieldy.schema import CompiledSchema, explain
from wieldy.schema.explain import MAX_VIOLATIONS

POINT = CompiledSchema(
    {
        "type": "object",
        "properties": {"x": {"type": "integer"}, "label": {"type": "string"}},
        "required": ["x"],
        "additionalProperties": False,
    }
)


def text(value: object, **more: object) -> str:
    return explain(POINT.violations(value), subject="The arguments of `plot`", **more)


def test_every_kind_of_violation_has_its_line() -> None:
    assert text({"label": 3, "lable": "a", "size": 1}, example={"x": 1}) == "\n".join(
        [
            "The arguments of `plot` do not fit:",
            "- `label`: expected a string, found 3.",
            "- `lable` is not known: expected only `x`, `label`.",
            "- `size` is not known: expected only `x`, `label`.",
            "- `x` is missing: expected an integer.",
            'Example of arguments that fit: {"x":1}',
        ]
    )


def test_a_misspelt_property_is_told_with_the_right_name() -> None:
    assert "- `X` is not known: did you mean `x`?" in text({"X": 1})


def test_a_value_that_is_no_object_is_told_as_a_whole() -> None:
    assert "- the whole: expected an object with `x`, found [1,2]." in text([1, 2])


def test_long_values_are_cut_and_counted() -> None:
    line = text({"x": "a" * 10_000}).splitlines()[1]
    assert line.startswith('- `x`: expected an integer, found "aaaa')
    assert line.endswith("... (10002 characters).")
    assert len(line) < 200


def test_many_violations_are_counted_instead_of_listed() -> None:
    lines = text({f"unknown_{index}": 1 for index in range(50)} | {"x": 1}).splitlines()
    assert len(lines) == MAX_VIOLATIONS + 2
    assert lines[-1] == "- and 42 more"


def test_what_is_no_json_can_be_told() -> None:
    assert "found nan." in text({"x": float("nan")})
    assert "\\ud800" in text({"x": 1, "label": "\ud800"})
    text({"x": "\ud800"}).encode()
