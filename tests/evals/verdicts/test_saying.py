"""A text says a number only as itself, however numbers are written around it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.evals.verdicts.saying import says

MINUSES = "-\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d"
WRITTEN = {
    "{}": lambda n: n,
    "${}": lambda n: n,
    "{}.00": lambda n: n,
    "{}.5": lambda n: n + 0.5,
    "1{}": None,
    "{}7": None,
    "7.{}": None,
    "{},5": None,
    "{}e3": None,
    "1e{}": None,
    "0x{}": None,
    "{} 000": lambda n: n * 1000 if n < 1000 else n,
    "{}\u202f000": lambda n: n * 1000 if n < 1000 else n,
    "{}'000": None,
    "{}_000": None,
    **{f"{sign}{{}}": lambda n: -n for sign in MINUSES},
    **{f"{sign}${{}}": None for sign in MINUSES},
    **{f"20{sign}{{}}": lambda n: n for sign in MINUSES},
    "it is-{}": lambda n: n,
    "total - {}": lambda n: n,
    "so \u2212 {}": lambda n: -n,
    "20 \u2212 {}": lambda n: n,
    "minus {}": lambda n: -n,
    "-USD {}": None,
    "\u2212 \u20a9{}": None,
    "{}\u00b2": None,
    "{} \u00d7 10^3": None,
    "- {} apples": lambda n: n,
}
"""What stands in a text for a number, and the number that it is; None for another one, whatever it is."""
AROUND = ["It is {}.", "{}", "({})", "about {}, I think", "<b>{}</b>", "a={}; b", "*{}*", '"{}"', "_{}_", "\u2265{}"]


@given(st.integers(1, 9999), st.sampled_from(sorted(WRITTEN)), st.sampled_from(AROUND), st.booleans())
def test_exactly_the_number_that_is_written_is_said(number: int, way: str, around: str, is_negative: bool) -> None:
    value = WRITTEN[way]
    wanted = -number if is_negative else number
    text = around.format(way.format(number))
    is_said = value is not None and value(number) == wanted
    assert says(text, str(wanted)) is is_said, text


@pytest.mark.parametrize(
    ("text", "wanted", "is_said"),
    [
        ("3.5", ".5", False),
        ("0.5", ".5", True),
        (".50 each", "0.5", True),
        ("20+40", "+40", False),
        ("it is +40", "+40", True),
        ("10-5=5", "-5", False),
        ("from 20 - 40 items", "-40", False),
        ("\u221240 degrees", "-40", True),
        ("-$40", "$40", False),
        ("$40", "$40", True),
        ("40 000", "40 000", True),
        ("40 000", "000", False),
        ("10 20 30", "20", True),
        ("3'40", "40", False),
        ("- $40", "$40", False),
        ("- 40", "40", False),
        ("- 40", "-40", True),
        ("Prices:\n- 40", "40", True),
        ("- 40\n- 50", "50", True),
        ("80 minus 40", "-40", False),
        ("--40", "40", False),
        ("40 2024", "40", True),
        ("Unshipped", "shipped", True),
        ("1/20", "1/2", False),
        ("9007199254740993", "9007199254740992", False),
        ("in 1,5 hours", "1", False),
        ("v1.40", "40", False),
    ],
)
def test_numbers_with_signs_points_and_groups(text: str, wanted: str, is_said: bool) -> None:
    assert says(text, wanted) is is_said
