import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.formats.reading.pattern import SPACE, Either, End, Group, Part, Pattern, Run, Scanner
from wieldy.formats.reading.source import Source


def found(pattern: Pattern, pieces: list[str]) -> str | None:
    """What the pattern finds in a text that arrives in pieces."""
    source = Source()
    looking = pattern.look(source)
    waiting = iter(pieces)
    while True:
        try:
            next(looking)
        except StopIteration as end:
            return end.value and end.value.group()
        piece = next(waiting, None)
        if piece is None:
            source.ended = True
        else:
            source.push(piece)


literal_parts = st.text("ab <\n", min_size=1, max_size=3)
runs = st.builds(Run, st.sampled_from([r"\s", "ab", r"^<\s", "^a"]), at_least=st.integers(0, 1), at_most=st.just(4))
simple: st.SearchStrategy[Part] = st.one_of(st.just(SPACE), literal_parts, runs, st.just(End()))
parts: st.SearchStrategy[Part] = st.one_of(
    simple,
    st.builds(
        lambda options: Either(tuple(map(tuple, options))),
        st.lists(st.lists(simple, max_size=2), min_size=1, max_size=3),
    ),
)


def plain(sequence: list[Part]) -> str:
    """The same as an ordinary regular expression, which tries all lengths of everything."""
    written = ""
    for part in sequence:
        match part:
            case str():
                written += re.escape(part)
            case Run():
                written += f"[{part.allowed}]{{{part.at_least},{part.at_most}}}"
            case Either():
                written += f"(?:{'|'.join(plain(list(option)) for option in part.options)})"
            case Group():
                written += plain(list(part.parts))
            case End():
                written += r"\Z"
    return written


@given(sequence=st.lists(parts, min_size=1, max_size=4), text=st.text("ab <\n", max_size=8), data=st.data())
def test_the_answer_does_not_depend_on_cuts_and_is_that_of_an_ordinary_expression(
    sequence: list[Part], text: str, data: st.DataObject
) -> None:
    pattern = Pattern(sequence)
    cut = data.draw(st.integers(0, len(text)))

    expected = re.compile(plain(sequence)).match(text)

    assert found(pattern, [text]) == (expected and expected.group())
    assert found(pattern, [text[:cut], text[cut:]]) == found(pattern, list(text)) == found(pattern, [text])


@pytest.mark.parametrize(
    "sequence",
    [
        [SPACE, "\n</call>"],
        [SPACE, Either((("\n",), ())), "</call>"],
        [Group("a", [SPACE]), Group("b", [SPACE, "</call>"])],
        [SPACE, Either(((SPACE, "<x>"), (SPACE, "</call>"))), SPACE],
    ],
)
def test_layout_leaves_what_a_literal_needs(sequence: list[Part]) -> None:
    assert found(Pattern(sequence), [" \n", "\n</ca", "ll>"])


def test_a_scanner_passes_over_nothing_that_may_begin_a_literal() -> None:
    source = Source()
    source.push("ab<ca")

    assert Scanner(["<call>", "]"]).find(source, 0) == (2, False)
    source.ended = True
    assert Scanner(["<call>", "]"]).find(source, 0) == (5, False)
