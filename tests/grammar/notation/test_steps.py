"""Calls as steps: where they are cut, and where they cannot be."""

import pytest

from wieldy.grammar.notation.places import calls_in, ends_before
from wieldy.grammar.notation.steps import NoStepsError, Steps, is_closed_by
from wieldy.grammar.shape import Characters, Exact, InOrder, Json, Named, OneOf, Repeated, TextWithout, maybe


def split(literal):
    return [Exact(literal.text)] if literal.text else []


def walked(shape, named=None):
    """The states of a choice, as texts."""
    steps = Steps(named or {}, split)
    first = steps.state(shape)
    return first, {
        number: [("".join(getattr(part, "text", "*") for part in step.terminal), step.following) for step in found]
        for number, found in steps.states.items()
    }


def argument(name, value):
    return InOrder((Exact(f"<{name}>"), value, Exact("</a>")))


def test_what_all_options_begin_with_is_the_lead():
    shape = OneOf((InOrder((Exact("<call>"), Exact("one;"), Json({}))), InOrder((Exact("<call>on;"), Json({})))))
    assert Steps({}, split).lead(shape) == (Exact("<call>on"),)


def test_a_special_token_in_the_lead_stands_by_itself():
    def with_token(literal):
        return [Exact("[T]", token=True), Exact(literal.text[3:])] if literal.text.startswith("[T]") else split(literal)

    shape = OneOf((InOrder((Exact("[T]ab"), Json({}))), InOrder((Exact("[T]ac"), Json({})))))
    assert Steps({}, with_token).lead(shape) == (Exact("[T]", token=True), Exact("a"))


def test_text_is_taken_up_to_the_end_of_a_marker_that_shows_that_it_is_over():
    text = TextWithout((("</a>", "<y"), ("</a>", "<end")))
    shape = OneOf((InOrder((argument("x", text), maybe(argument("y", text)), Exact("<end>"))),))
    _, states = walked(shape)
    assert {way for ways in states.values() for way, _ in ways if "*" in way} == {"*</a><y", "*</a><end"}


def test_states_grow_with_the_parts_and_not_with_the_ways_through_them():
    def count(parts):
        inner = tuple(maybe(argument(f"p{number}", Json({}))) for number in range(parts))
        _, states = walked(OneOf((InOrder((Exact("f("), *inner, Exact(")"))),)))
        return len(states)

    assert count(40) < 2.5 * count(20)


@pytest.mark.parametrize(
    "shape",
    [
        InOrder((Exact("a"), TextWithout(("b",)))),
        InOrder((Exact("a"), TextWithout(("b",)), Exact("c"))),
        InOrder((Exact("a"), Characters("b"), Exact("b"))),
        InOrder((Exact("a"), maybe(Exact("b")))),
        InOrder((Exact("a"), OneOf((Exact("b"), InOrder((Exact("bc"), Json({}))))))),
        InOrder((Exact("a"), Repeated(Exact(""), at_least=2))),
        InOrder((Exact("a"), Repeated(Exact("b"), at_most=500), Exact("c"))),
        InOrder((Exact("a"), Repeated(Characters("b-z", at_most=1)), Exact("a"), TextWithout(()))),
        InOrder((Exact("a"), Named("itself"))),
    ],
)
def test_what_cannot_be_told_apart_is_not_cut(shape):
    with pytest.raises(NoStepsError):
        walked(OneOf((shape,)))


@pytest.mark.parametrize(
    ("ends", "is_closed"),
    [
        (["</a><b>"], True),
        (["</a>"], False),
        (["</a> <b>", "</a>\n<b>"], True),
        (["</a><b>", "</a><b>c"], False),
        (["</a><b>", "x</a><b>"], True),
        (["<b></a><b>"], False),
    ],
)
def test_text_is_over_where_its_marker_ends_and_nowhere_else(ends, is_closed):
    assert is_closed_by(ends, ends, (("</a>", "<b>"),)) is is_closed


def test_text_before_calls_must_not_contain_what_they_begin_with():
    call = InOrder((Exact("<call>"), TextWithout(("</call>",)), Exact("</call>")))
    calls = Repeated(OneOf((call,)), at_least=1)
    lead = (Exact("<call>"),)
    for marker, is_safe in (("<call>", True), ("<other>", False)):
        ((_, _, places),) = calls_in(InOrder((TextWithout((marker,)), maybe(Exact("\n")), calls)), {})
        assert all(ends_before(before, lead, {}) for before in places) is is_safe
