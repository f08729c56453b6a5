"""Both rules for conversations, on services of our own: where they agree, and each way in which they do not."""

from __future__ import annotations

import pytest
from conversation_examples import conversation, service_code
from hypothesis import given
from hypothesis import strategies as st

from wieldy.evals.bfcl.conversations import official, strict
from wieldy.evals.bfcl.conversations.data import BfclConversation
from wieldy.evals.bfcl.conversations.defects import defects_of
from wieldy.evals.bfcl.conversations.official import NO_CALL, OTHER_STATE, RESULT_LACKING
from wieldy.evals.bfcl.conversations.services import ServiceCode
from wieldy.evals.bfcl.conversations.states import is_same, state_of
from wieldy.evals.bfcl.conversations.strict import Made
from wieldy.evals.bfcl.conversations.written import read_call

A, B = "add(name='a')", "add(name='b', urgency=2)"


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> ServiceCode:
    return service_code(tmp_path_factory.mktemp("package"))


def verdicts(one: BfclConversation, *turns: tuple[str, ...]) -> tuple[str | None, str | None]:
    """The official reason and the strict code; None for right."""
    ours = official.check(one, [[[call] for call in calls] for calls in turns])
    meant = strict.check(one, [[made(call) for call in calls] for calls in turns])
    return (ours and ours.reason), (meant and meant.reason.partition(":")[0])


def made(text: str) -> Made:
    call = read_call(text)
    return Made(call.name, call.named)


@pytest.mark.parametrize(
    ("right", "trial", "official_reason", "strict_code"),
    [
        ((A,), (A,), None, None),
        ((A, B), (B, A), RESULT_LACKING, None),  # the results count up, the state is the same
        ((A,), (B,), OTHER_STATE, "wrong-state"),
        ((A,), (A, B), OTHER_STATE, "wrong-state"),
        ((A,), (), NO_CALL, "no-call"),
        ((A,), (A, "close(name='none')"), None, None),  # an error by the way
        ((A,), (B, "close(name='b')", A), None, None),
        ((A,), ("add(name='a', urgency=True)",), None, "wrong-state"),
        ((A,), ("add(name='a', urgency=1.0)",), None, None),
        (("names()",), ("names()",), None, None),
        (("names()",), ("here()",), RESULT_LACKING, "not-found-out"),
        (("names()",), (), NO_CALL, "no-call"),
        (("names()", "names()"), ("names()",), RESULT_LACKING, None),  # once known is known
        (("go(desk='back')", A), (A,), RESULT_LACKING, None),  # where one stands is no state
        (("go(desk=1)", "here()"), ("go(desk='1')", "here()"), None, None),
        (("go(desk='back')", "here()"), ("here()",), RESULT_LACKING, "not-found-out"),
        (("close(name='none')", A), (A,), RESULT_LACKING, None),  # nobody has to make an error
        (("draw()",), ("draw()",), None, None),
        (("draw()",), ("draw()", "draw()"), None, None),
        ((A, "tag(name='a', tag='x')"), ("add(name='a', tags=['x'])",), RESULT_LACKING, None),
    ],
)
def test_a_turn_is_judged_by_what_it_came_to(
    code: ServiceCode,
    right: tuple[str, ...],
    trial: tuple[str, ...],
    official_reason: str | None,
    strict_code: str | None,
) -> None:
    assert verdicts(conversation(code, right), trial) == (official_reason, strict_code)


def test_what_is_drawn_by_chance_has_to_be_drawn_and_may_be_another_number(code: ServiceCode) -> None:
    one = conversation(code, ("draw()",), (A, "draw()"))
    assert verdicts(one, ("draw()",), (A, "draw()")) == (None, None)
    assert verdicts(one, ("draw()", "draw()"), (A,)) == (None, None)
    again = conversation(code, (A,), ("draw()",))
    assert verdicts(again, (A,), ("names()",)) == (RESULT_LACKING, "not-found-out")


@pytest.mark.parametrize(
    ("trial", "official_reason", "strict_code"),
    [
        (((), (A,)), None, None),
        (((A,), ()), NO_CALL, "premature-change"),
        (((A,), (A,)), None, "premature-change"),
        ((("names()",), (A,)), None, "needless-call"),
        ((("no_such()",), (A,)), None, "needless-call"),
        ((("add(name='x')", "close(name='x')"), (A,)), None, "needless-call"),
    ],
)
def test_where_nothing_can_be_done_only_the_strict_rules_want_nothing_done(
    code: ServiceCode, trial: tuple[tuple[str, ...], ...], official_reason: str | None, strict_code: str
) -> None:
    assert verdicts(conversation(code, (), (A,)), *trial) == (official_reason, strict_code)


def test_what_came_up_before_its_time_counts_for_nothing_later_by_the_strict_rules(code: ServiceCode) -> None:
    one = conversation(code, (A,), (), ("names()",))
    assert verdicts(one, (A, "names()"), (), ("here()",)) == (None, None)
    assert verdicts(one, (A,), ("names()",), ("here()",)) == (None, "needless-call")


def test_the_turn_of_a_mistake_is_told(code: ServiceCode) -> None:
    one = conversation(code, (A,), ("names()",), (B,))
    calls = [[[A]], [["names()"]], [[A]]]
    for at in range(3):
        wrong = [[["here()"]] if turn == at else own for turn, own in enumerate(calls)]
        found = official.check(one, wrong)
        assert found is not None
        assert found.turn == at
        meant = strict.check(one, [[made(call) for calls in turn for call in calls] for turn in wrong])
        assert meant is not None
        assert meant.turn == at
    ended = strict.check(one, [[made(A)]])
    assert ended == (1, "unfinished: the conversation ended before turn 2 of 3")


def test_refused_calls_bring_nothing(code: ServiceCode) -> None:
    one = conversation(code, (A,))
    assert strict.check(one, [[made(A), Made("add", {"name": "b"}, is_carried_out=False)]]) is None


def test_the_official_rules_keep_their_defects(code: ServiceCode) -> None:
    in_a_text = "add(name='call add(x) or names ()')"
    assert verdicts(conversation(code, (in_a_text,)), (in_a_text,)) == (OTHER_STATE, None)
    shared = ("add(name='a')", "tag(name='a', tag='x')", "show(name='a')")
    one = conversation(code, shared)
    assert official.check(one, [[list(shared)]]) is not None  # the default of a parameter is one list for both sides
    assert strict.check(one, [[made(call) for call in shared]]) is None
    for text in ("kill(1)", "run()", "names() or 1", "names(", "names(x=1, x=2)", "a.names()"):
        assert official.check(conversation(code, (A,)), [[[text, A]]]) is None
        assert official.check(conversation(code, ("names()",)), [[[text]]]) is not None


_CALLS = st.lists(
    st.sampled_from(
        (
            *(A, B, "add(name='c', tags=['x'])", "close(name='a')", "close(name='b')", "names()", "show(name='a')"),
            *("here()", "tag(name='a', tag='x')", "go(desk='back')", "draw()", "no_such()"),
        )
    ),
    max_size=4,
).map(tuple)


@given(right=st.lists(_CALLS, min_size=1, max_size=3))
def test_the_right_calls_are_right_by_the_strict_rules_whatever_they_are(
    code: ServiceCode, right: list[tuple[str, ...]]
) -> None:
    one = conversation(code, *right)
    assert strict.check(one, [[made(call) for call in calls] for calls in right]) is None


@given(right=st.lists(_CALLS, min_size=1, max_size=3), trial=st.lists(_CALLS, min_size=3, max_size=3))
def test_a_verdict_depends_on_the_trial_alone(
    code: ServiceCode, right: list[tuple[str, ...]], trial: list[tuple[str, ...]]
) -> None:
    one = conversation(code, *right)
    turns = trial[: len(right)]
    first = verdicts(one, *turns)
    verdicts(one, *((),) * len(right))
    assert verdicts(one, *turns) == first


@given(right=st.lists(_CALLS, min_size=1, max_size=3), trial=st.lists(_CALLS, min_size=3, max_size=3))
def test_how_calls_are_spread_over_replies_does_not_matter(
    code: ServiceCode, right: list[tuple[str, ...]], trial: list[tuple[str, ...]]
) -> None:
    one, turns = conversation(code, *right), trial[: len(right)]
    one_by_one = official.check(one, [[[call] for call in calls] for calls in turns])
    at_once = official.check(one, [[list(calls)] if calls else [] for calls in turns])
    assert one_by_one == at_once


def test_defects_are_right_calls_that_are_not_offered(code: ServiceCode) -> None:
    assert defects_of(conversation(code, (A,), ("names()",))) == ()
    assert defects_of(conversation(code, (A,), ("names()",), missing={1: "names"})) == ()
    one = conversation(code, ("add(name=1)", "names()"), ("names()",), missing={1: "names"})
    assert [(defect.code, defect.where) for defect in defects_of(one)] == [
        ("not-admitted", "add"),
        ("not-offered", "names"),
    ]


# Values


def test_a_folder_within_itself_has_a_state_and_ends(code: ServiceCode) -> None:
    world = conversation(code, (A,)).world()
    service = world.services["TicketAPI"]
    service.tickets["self"] = service.tickets
    assert is_same(state_of(world), state_of(world))


_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=2), inner, max_size=3)),
    max_leaves=5,
)


@given(value=_VALUES, other=_VALUES)
def test_sameness_is_of_both_sides_and_of_everything_with_itself(value: object, other: object) -> None:
    assert is_same(value, value)
    assert is_same(value, other) == is_same(other, value)


@pytest.mark.parametrize(
    ("value", "other", "same"),
    [
        (5, 5.0, True),
        (1, True, False),
        (0, False, False),
        (float("nan"), float("nan"), True),
        ("A", "a", False),
        ([1, 2], [2, 1], False),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 1}, {"a": 1, "b": None}, False),
        (None, 0, False),
        (10**400, float("inf"), False),
        ("1", 1, False),
    ],
)
def test_values_are_the_same_as_json_has_them(value: object, other: object, same: bool) -> None:
    assert is_same(value, other) is same
