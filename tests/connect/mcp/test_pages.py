"""How much of a list is read, and how soon it is read again, whatever the server makes of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.connect.mcp.client.pages import (
    LONG_ENTRIES,
    LONG_REST_S,
    MAX_PAGES,
    MOST_CHARACTERS,
    MOST_ENTRIES,
    Pace,
    listed,
)
from wieldy.core.json import JsonObject, JsonValue

pytestmark = pytest.mark.anyio
SIZES = st.lists(st.sampled_from([0, 1, 2, MOST_ENTRIES // 2, MOST_ENTRIES, MOST_ENTRIES + 1]), min_size=1, max_size=5)


@given(sizes=SIZES)
async def test_a_list_is_its_pages_one_after_another_as_far_as_entries_are_read(sizes: list[int]) -> None:
    whole: list[JsonValue] = [*range(sum(sizes))]
    asked: list[JsonObject] = []

    async def get(params: JsonObject) -> JsonObject:
        number = len(asked)
        asked.append(params)
        start = sum(sizes[:number])
        cursor: JsonObject = {"nextCursor": f"page {number + 1}"} if number + 1 < len(sizes) else {}
        return {"tools": whole[start : start + sizes[number]], **cursor}

    found = await listed(get, "tools")
    assert found.entries == whole[:MOST_ENTRIES]
    assert found.is_whole == (len(whole) <= MOST_ENTRIES)
    assert asked == [{}, *({"cursor": f"page {number}"} for number in range(1, len(asked)))]


@pytest.mark.parametrize(
    ("page", "entries", "pages"),
    [
        ([], 0, MAX_PAGES),
        ([{}] * 100, MOST_ENTRIES, MOST_ENTRIES // 100 + 1),
        ([{"description": "d" * (MOST_CHARACTERS // 10)}], 9, 10),
        ([{"d" * (MOST_CHARACTERS // 10): [[1]]}], 9, 10),
        ([{"description": "d" * MOST_CHARACTERS}], 0, 1),
    ],
)
async def test_a_list_without_end_is_read_to_a_limit(page: list[JsonValue], entries: int, pages: int) -> None:
    asked: list[JsonObject] = []

    async def get(params: JsonObject) -> JsonObject:
        asked.append(params)
        return {"tools": page, "nextCursor": f"page {len(asked)}"}

    found = await listed(get, "tools")
    assert (len(found.entries), len(asked), found.is_whole) == (entries, pages, False)


@given(
    reads=st.lists(st.tuples(st.integers(0, 2 * LONG_ENTRIES), st.floats(0, 2 * LONG_REST_S)), min_size=1, max_size=5)
)
def test_a_long_list_is_not_read_again_soon(reads: list[tuple[int, float]]) -> None:
    now = 1.0
    pace = Pace(lambda: now)
    assert pace.wait_s == 0
    for count, passed in reads:
        pace.has_read(count)
        now += passed
        expected = LONG_REST_S - passed if count > LONG_ENTRIES else 0
        assert pace.wait_s == pytest.approx(max(0, expected), abs=1e-6)
