"""A tool checks arguments, binds them and names what a call touches."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel

from wieldy.core.context import Context
from wieldy.core.errors import ArgumentsError, ToolCrashedError, UsageError
from wieldy.core.limits import Usage
from wieldy.core.messages import Message, TextPart
from wieldy.tools import tool

CONTEXT = Context(run_id="run", call_id="call", tool_name="tool", idempotency_key="key")


class Line(BaseModel):
    product: str
    count: int = 1


@dataclass
class Buyer:
    name: str


@tool(examples=[{"order_id": "17", "lines": [{"product": "tea"}]}])
def place(order_id: str, lines: list[Line], when: dt.date | None = None, ready: bool = False) -> str:
    """Place an order."""
    return f"{order_id} {len(lines)} {when} {ready}"


def test_repairs_are_told_and_values_are_python() -> None:
    valid = place.validate({"order_id": "1", "lines": '[{"product": "tea", "count": "2"}]', "ready": "true"})
    assert valid.json == {"order_id": "1", "lines": [{"product": "tea", "count": 2}], "ready": True}
    assert valid.values == {"order_id": "1", "lines": [Line(product="tea", count=2)], "ready": True}
    assert valid.repairs == (
        '`lines`: the text "[{\\"product\\": \\"tea\\", \\"count\\": \\"2\\"}]" was read as '
        '[{"count":"2","product":"tea"}]',
        '`lines[0].count`: the text "2" was read as 2',
        '`ready`: the text "true" was read as true',
    )


def test_what_a_model_gave_is_not_changed() -> None:
    arguments: dict[str, Any] = {"order_id": "1", "lines": [{"product": "tea", "count": "2"}]}
    place.validate(arguments)
    assert arguments == {"order_id": "1", "lines": [{"product": "tea", "count": "2"}]}


def test_an_error_says_what_was_found_what_fits_and_shows_the_authors_example() -> None:
    with pytest.raises(ArgumentsError) as caught:
        place.validate({"order_id": 17, "lines": [{"count": 0.5}], "when": "tomorrow"})
    text = str(caught.value)
    assert "- `order_id`: expected a string, found 17." in text
    assert "- `lines[0].product` is missing: expected a string." in text
    assert "- `lines[0].count`: expected an integer, found 0.5." in text
    example = json.loads(text.rpartition("Example of arguments that fit: ")[2])
    assert example["order_id"] == "17"
    place.validate(example)


def test_what_only_the_python_type_refuses_is_told_in_the_same_way() -> None:
    with pytest.raises(ArgumentsError) as caught:
        place.validate({"order_id": "1", "lines": [], "when": "tomorrow"})
    assert '- `when`: expected a date such as 2026-01-31, found "tomorrow".' in str(caught.value)


def _even(value: int) -> int:
    if value % 2:
        raise ValueError("the number has to be even")
    return value


def _crashing(value: int) -> int:
    raise KeyError("secret")


def test_a_check_of_ones_own_speaks_to_the_model() -> None:
    @tool
    def halve(number: Annotated[int, AfterValidator(_even)]) -> float:
        return number / 2

    with pytest.raises(ArgumentsError) as caught:
        halve.validate({"number": 3})
    assert "- `number`: the number has to be even; found 3." in str(caught.value)
    assert "Example" not in str(caught.value)


def _leaving(value: int) -> int:
    raise SystemExit("secret")


@pytest.mark.parametrize("check", [_crashing, _leaving])
def test_a_check_of_ones_own_that_crashes_keeps_its_secrets(check: Callable[[int], int]) -> None:
    @tool
    def take(number: Annotated[int, AfterValidator(check)]) -> None: ...

    with pytest.raises(ToolCrashedError) as caught:
        take.validate({"number": 3})
    assert "secret" not in str(caught.value)
    assert "secret" in (caught.value.detail or "")


ENDS: list[type[BaseException]] = [RuntimeError, SystemExit, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError]


@pytest.mark.parametrize("end", ENDS)
def test_whatever_a_check_of_ones_own_raises_and_whatever_that_does_is_a_crash_of_the_tool(
    end: type[BaseException],
) -> None:
    def fail(*_: object) -> Any:
        raise end("secret")

    class Silent(ValueError):
        __str__ = __repr__ = fail

    class Closed(Exception):
        __getattribute__ = __str__ = __repr__ = fail

    for error in (end("secret"), Silent(), Closed()):

        def check(_: int, error: BaseException = error) -> int:
            raise error

        @tool
        def take(number: Annotated[int, AfterValidator(check)]) -> None: ...

        with pytest.raises(ToolCrashedError) as caught:
            take.validate({"number": 3})
        assert "secret" not in str(caught.value)
        assert caught.value.detail


anything = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(), st.just(object())),
    lambda parts: st.one_of(
        st.lists(parts, max_size=3), st.dictionaries(st.one_of(st.text(), st.integers()), parts, max_size=3)
    ),
    max_leaves=6,
)


@given(
    st.one_of(anything, st.fixed_dictionaries({"order_id": anything, "lines": anything}, optional={"when": anything}))
)
def test_whatever_a_model_writes_it_is_read_or_refused(arguments: Any) -> None:
    try:
        valid = place.validate(arguments)
    except ArgumentsError as error:
        str(error).encode()
    else:
        assert place.validate(valid.json).repairs == ()


def test_nesting_without_end_is_refused() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ArgumentsError, match="levels of nesting"):
        place.validate({"order_id": "1", "lines": deep})


# ── keys ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@tool(
    reads=["file:{path}", "plain", "{{braces}}"],
    writes=["shop/{buyer.name}/order:{number}", "tag:{tags}", "part/{part}"],
)
def touch(path: str, buyer: Buyer, number: int, tags: list[str] = [], part: str | None = "all") -> None:  # noqa: B006
    """Touch things."""


def test_keys_are_filled_from_validated_arguments() -> None:
    arguments = touch.validate(
        {"path": "a/b.txt", "buyer": {"name": "Ada"}, "number": "7", "tags": ["x", "y", "x"]}
    ).json
    assert touch.reads_of(arguments) == ("file:a/b.txt", "plain", "{braces}")
    assert touch.writes_of(arguments) == ("shop/Ada/order:7", "tag:x", "tag:y", "part/all")


def test_what_was_left_out_counts_with_its_default() -> None:
    assert "part/all" in touch.writes_of({"path": "a", "buyer": {"name": "Ada"}, "number": 7})


def test_a_key_without_its_value_stands_for_everything_below() -> None:
    @tool(writes=["shop/order:{order_id}", "order:{order_id}"])
    def cancel(order_id: str | None = None) -> None: ...

    assert cancel.writes_of({}) == ("shop", "")
    assert cancel.writes_of({"order_id": None}) == ("shop", "")


def test_whole_numbers_have_one_key_however_they_are_spelled() -> None:
    @tool(writes=["n:{n}"])
    def change(n: int) -> None: ...

    spellings: list[Any] = [7, 7.0, "7", "7.0"]
    assert {change.writes_of(change.validate({"n": spelling}).json) for spelling in spellings} == {("n:7",)}


# ── binding ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_asynchronous_tool_gives_an_awaitable() -> None:
    @tool
    async def double(x: int, ctx: Context) -> str:
        return f"{2 * x} {ctx.call_id}"

    async def run() -> str:
        return await double.bind(double.validate({"x": 2}).values, CONTEXT)()

    assert double.is_async
    assert anyio.run(run) == "4 call"


def test_a_bound_call_may_be_made_again() -> None:
    seen: list[list[int]] = []

    @tool
    def collect(numbers: list[int], first: int = 0, /) -> None:
        seen.append([first, *numbers])

    call = collect.bind(collect.validate({"numbers": [1]}).values, CONTEXT)
    call()
    call()
    assert seen == [[0, 1], [0, 1]]


def test_renaming_keeps_everything_but_the_name() -> None:
    other = place.renamed("place-order")
    assert other.name == "place-order"
    assert other.definition.input_schema == place.definition.input_schema
    assert (other.function, other.effect, other.schema) == (place.function, place.effect, place.schema)
    with pytest.raises(UsageError, match="letters A-Z"):
        place.renamed("place order")


@given(requests=st.integers(0, 9), text=st.text(st.characters(codec="utf-8"), max_size=5))
def test_a_tool_may_take_and_return_our_own_records(requests: int, text: str) -> None:
    @tool
    def count(used: Usage, said: list[TextPart]) -> tuple[Usage, Message]:
        """Count."""
        return used + used, Message(role="user", parts=tuple(said))

    valid = count.validate({"used": {"requests": requests}, "said": [{"text": text}]})
    assert valid.values == {"used": Usage(requests=requests), "said": [TextPart(text=text)]}
    shown = count.present(count(**valid.values)).structured
    assert isinstance(shown, list)
    used, message = shown
    assert isinstance(used, dict)
    assert used["requests"] == 2 * requests
    assert message == {"role": "user", "parts": [{"text": text}]}
    with pytest.raises(ArgumentsError):
        count.validate({"used": {"requests": "many"}, "said": []})
