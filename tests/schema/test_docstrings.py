"""Prose and parameters are told apart in every style, and nothing that was written gets lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.schema.docstrings import read_docstring

GOOGLE = """Refund an order.

    Takes the money back, in whole
    or in part.

    Args:
        order_id: The order's number.
        amount (float, optional): Part of the sum, in dollars;
            all of it if left out.

    Returns:
        A receipt.

    Raises:
        ValueError: Never.

    Example:
        >>> refund("17")
    """
NUMPY = """Refund an order.

    Takes the money back, in whole
    or in part.

    Parameters
    ----------
    order_id : str
        The order's number.
    amount : float, optional
        Part of the sum, in dollars;
        all of it if left out.

    Returns
    -------
    Receipt
        A receipt.
    """
SPHINX = """Refund an order.

    Takes the money back, in whole
    or in part.

    :param order_id: The order's number.
    :type order_id: str
    :param float amount: Part of the sum, in dollars;
        all of it if left out.
    :returns: A receipt.
    :raises ValueError: Never.
    """
EPYDOC = """Refund an order.

    Takes the money back, in whole
    or in part.

    @param order_id: The order's number.
    @param amount: Part of the sum, in dollars;
        all of it if left out.
    @return: A receipt.
    """


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX, EPYDOC])
def test_all_styles_say_the_same(text: str) -> None:
    read = read_docstring(text)
    assert read.prose == "Refund an order.\n\nTakes the money back, in whole or in part."
    assert read.parameters == {
        "order_id": "The order's number.",
        "amount": "Part of the sum, in dollars; all of it if left out.",
    }


@pytest.mark.parametrize("text", [None, "", "   \n  "])
def test_without_a_docstring_there_is_nothing(text: str | None) -> None:
    assert read_docstring(text).prose == ""
    assert read_docstring(text).parameters == {}


@pytest.mark.parametrize(
    ("text", "prose"),
    [
        ("Just one line", "Just one line"),
        ("A sentence that runs\n    over two lines.", "A sentence that runs over two lines."),
        ("See https://example.com: it is good.", "See https://example.com: it is good."),
        ("Choose:\n\n    - one: the first\n    - two: the second\n", "Choose:\n\n- one: the first\n- two: the second"),
        ("Do it.\n\n    Args: none\n", "Do it.\n\nArgs: none"),
        (
            "Do it.\n\n    Args:\n        x: why\n\n    Note:\n        Only on Mondays.\n",
            "Do it.\n\nNote: Only on Mondays.",
        ),
        ("Do it.\n\n    Notes\n    -----\n    Only on Mondays.\n", "Do it.\n\nNote: Only on Mondays."),
        ("Args:\n        x: why\n", ""),
    ],
)
def test_the_prose_is_kept(text: str, prose: str) -> None:
    assert read_docstring(text).prose == prose


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ("A.\n\n    Args:\n        x (dict[str, int]): a: b\n", {"x": "a: b"}),
        ("A.\n\n    Arguments:\n        x: a\n\n    Keyword Args:\n        y: b\n", {"x": "a", "y": "b"}),
        ("A.\n\n    Args:\n        *args: a\n        **options: b\n", {"args": "a", "options": "b"}),
        ("A.\n\n    Parameters\n    ----------\n    a, b : int\n        Two.\n", {"a": "Two.", "b": "Two."}),
        ("Args:\n        x: why\n", {"x": "why"}),
        ("A.\n\n    Attributes:\n        x: why\n", {"x": "why"}),
        (":param x: why", {"x": "why"}),
    ],
)
def test_the_parameters_are_found(text: str, parameters: dict[str, str]) -> None:
    assert read_docstring(text).parameters == parameters


def test_a_section_that_cannot_be_read_stays_in_the_prose() -> None:
    read = read_docstring("Do it.\n\n    Args:\n        this line has no colon\n        x: why\n")
    assert read.parameters == {}
    assert "this line has no colon" in read.prose


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    read_docstring(text)


@given(st.lists(st.sampled_from([*GOOGLE.splitlines(), *NUMPY.splitlines(), *SPHINX.splitlines()]), max_size=20))
def test_any_mixture_of_styles_can_be_read(lines: list[str]) -> None:
    read_docstring("\n".join(lines))
