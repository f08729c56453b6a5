"""Secrets are found in every usual spelling, and nothing else is touched."""

from __future__ import annotations

import base64
import html
import json
import re
import urllib.parse
from collections.abc import Callable

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from wieldy.core.errors import UsageError
from wieldy.run.results.masks import Mask, check_secrets

KEY = 'sk-Ab/c+d="é'

secrets = st.dictionaries(
    st.sampled_from(["key", "password", "token"]),
    st.text(st.characters(codec="utf-8"), min_size=4, max_size=24).filter(lambda value: len(value.strip()) >= 4),
    min_size=1,
)


def mask_of(values: dict[str, str]) -> Mask:
    try:
        return Mask(values)
    except UsageError:  # a value that stands in a mark
        assume(False)
        raise


@pytest.mark.parametrize(
    "spell",
    [
        str,
        lambda text: urllib.parse.quote(text, safe="/?"),
        lambda text: urllib.parse.quote_plus(text, safe="?"),
        lambda text: urllib.parse.quote(text, safe="?"),
        lambda text: re.sub("%..", lambda found: found[0].lower(), urllib.parse.quote(text, safe="?")),
        json.dumps,
        lambda text: json.dumps(text, ensure_ascii=False),
        lambda text: json.dumps(json.dumps({"key": text})),
        lambda text: json.dumps(text).replace("/", "\\/"),
        repr,
        html.escape,
    ],
)
def test_a_secret_is_found_in_every_usual_spelling(spell: Callable[[str], str]) -> None:
    assert (
        Mask({"api": KEY}).text(f"before {spell(KEY)} after")
        == f"before {spell('?').replace('?', '[secret api]')} after"
    )


def test_a_secret_is_found_in_hexadecimal() -> None:
    mask = Mask({"api": KEY})
    assert mask.text(f"<{KEY.encode().hex()}|{KEY.encode().hex().upper()}>") == "<[secret api]|[secret api]>"


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
@given(before=st.binary(max_size=5), after=st.binary(max_size=5))
def test_a_secret_is_found_in_base64_wherever_it_stands(
    encode: Callable[[bytes], bytes], before: bytes, after: bytes
) -> None:
    encoded = encode(before + KEY.encode() + after).decode()
    assert "[secret api]" in Mask({"api": KEY}).text(encoded)


def test_a_basic_authorisation_header_is_masked() -> None:
    header = base64.b64encode(b"user:correct horse").decode()
    assert Mask({"password": "correct horse"}).text(f"Basic {header}").startswith("Basic dXNlcj")
    assert "[secret password]" in Mask({"password": "correct horse"}).text(header)


@given(secrets, st.lists(st.one_of(st.text(), st.integers(0, 2)), max_size=8))
@example({"key": "aaaa"}, ["aaaaaaaaaaa"])
@example({"key": "secr", "token": "et key"}, [0, 1])
@example({"key": "0[se", "token": "]00["}, ["00[se]", 0, 1, 0])
def test_no_masked_text_holds_a_secret(values: dict[str, str], pieces: list[str | int]) -> None:
    mask = mask_of(values)
    stored = list(values.values())
    text = "".join(stored[piece % len(stored)] if isinstance(piece, int) else piece for piece in pieces)
    masked = mask.text(text)
    assert not any(value in masked for value in stored)
    assert mask.text(masked) == masked


@given(st.text())
def test_text_without_a_secret_is_the_same_text(text: str) -> None:
    assume(KEY not in text)
    assert Mask({"api": KEY}).text(text) is text
    assert Mask({}).text(text) is text


def test_the_longer_secret_is_masked_as_itself() -> None:
    mask = Mask({"short": "abcd", "long": "abcdefgh"})
    assert mask.text("abcdefgh abcd") == "[secret long] [secret short]"


def test_a_secret_read_from_a_file_is_found_without_its_line_break() -> None:
    assert Mask({"token": "tok-1234\n"}).text("the token tok-1234.") == "the token [secret token]."


def test_every_long_line_of_a_key_is_a_secret() -> None:
    key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\n9w0BAQEFAASCBKcwggSj\n-----END KEY-----\n"
    masked = Mask({"tls": key}).text("    9w0BAQEFAASCBKcwggSj\r\n")
    assert masked == "    [secret tls]\r\n"


def test_json_is_masked_in_texts_names_and_numbers() -> None:
    mask = Mask({"pin": "12345678", "quoted": 'a"b\\c'})
    value = {"12345678": [12345678, 1, True, None, 2.5], "deep": {"text": 'say a"b\\c'}, "float": 12345678.5}
    assert mask.value(value) == {
        "[secret pin]": ["[secret pin]", 1, True, None, 2.5],
        "deep": {"text": "say [secret quoted]"},
        "float": "[secret pin].5",
    }
    clean = {"a": [1, {"b": "c"}]}
    assert mask.value(clean) is clean


def test_who_stands_in_a_text_is_told_by_name() -> None:
    assert Mask({"a": "first one", "b": "second"}).names_in("second, first+one") == ("[secret a]", "[secret b]")


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"pin": "123"}, "at least 4 characters, found 3"),
        ({"pin": "  1  \n"}, "at least 4 characters, found 1"),
        ({"pin": ""}, "at least 4 characters, found 0"),
        ({"pin": None}, "to be text, found NoneType"),
        ({"pin": 1234}, "to be text, found int"),
        ({"": "value"}, "to have a name, found ''"),
        ({"password": "password"}, "stands in '[secret password]'"),
        ({"a": "secret"}, "stands in '[secret a]'"),
        (["a"], "mapping from names to values, found list"),
        (None, "mapping from names to values, found NoneType"),
    ],
)
def test_what_cannot_be_masked_is_refused(values: dict[str, str], problem: str) -> None:
    with pytest.raises(UsageError) as refused:
        check_secrets(values)
    assert problem in str(refused.value)
