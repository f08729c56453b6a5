"""Who had a part in a call: by paths, in that it is made, and of some sources only."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.core.influence import Influence, joined

names = st.sampled_from(["web", "mail", "crm"])
sources = st.lists(names, max_size=3, unique=True).map(tuple)
paths = st.lists(st.sampled_from(["a", "b", "0", r"x\.y"]), max_size=3).map(".".join)
influences = st.builds(
    Influence, arguments=st.dictionaries(paths, sources, max_size=4), decided_by=sources, survived=sources
)


@pytest.mark.parametrize(
    ("at", "path", "is_touched"),
    [
        ("to", "to", True),
        ("to.0", "to", True),
        ("to", "to.0.name", True),
        ("", "to", True),
        ("to", "", True),
        ("to", "total", False),
        ("to.0", "to.1", False),
        (r"to\.0", "to", False),
    ],
)
def test_a_part_of_a_value_and_what_it_lies_in_are_its_business(at: str, path: str, is_touched: bool) -> None:
    assert Influence(arguments={at: ("web",)}).of(path) == (("web",) if is_touched else ())


@given(influences, sources)
def test_what_had_a_part_in_everything_had_one_in_each(influence: Influence, others: tuple[str, ...]) -> None:
    both = influence.with_all(others)
    for path in ("a", "b.0", "elsewhere"):
        assert set(both.of(path)) == {*influence.of(path), *others}
    assert set(both.decided_by) == {*influence.decided_by, *others}
    assert set(both.sources) == {*influence.sources, *others}


@given(influences)
def test_without_paths_every_argument_has_what_any_had(influence: Influence) -> None:
    flat = influence.without_paths()
    assert set(flat.of("anything")) == set(joined(*influence.arguments.values()))
    assert set(flat.sources) == set(influence.sources)


@given(influences, st.frozensets(names))
def test_of_the_sources_only_those_that_count(influence: Influence, counting: frozenset[str]) -> None:
    kept = influence.among(lambda name: name in counting)
    for path in ("a", "b.0", ""):
        assert set(kept.of(path)) == set(influence.of(path)) & counting
    assert set(kept.sources) == set(influence.sources) & counting
    assert all(kept.arguments.values())


def test_a_record_that_names_no_argument_is_like_any_other() -> None:
    one, other = Influence(), Influence(arguments={})
    assert one == other == copy.deepcopy(one) == pickle.loads(pickle.dumps(one))
    assert one.arguments is not Influence().arguments
