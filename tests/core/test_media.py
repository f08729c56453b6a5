"""Images and files from bytes and from paths, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.core.errors import UsageError
from wieldy.core.media import FilePart, ImagePart, data_url, media_type_of, read_data_url

PNG = b"\x89PNG\r\n\x1a\n....."
BEGINNINGS = [
    (PNG, "image/png"),
    (b"\xff\xd8\xff\xe0..", "image/jpeg"),
    (b"GIF89a..", "image/gif"),
    (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"),
    (b"%PDF-1.7", "application/pdf"),
]


@pytest.mark.parametrize(("data", "media_type"), BEGINNINGS)
def test_common_kinds_are_recognised_by_their_beginning(data: bytes, media_type: str) -> None:
    assert media_type_of(data) == media_type
    if media_type.startswith("image/"):
        assert ImagePart.from_bytes(data).media_type == media_type
    assert FilePart.from_bytes(data, name="x").media_type == media_type


@given(st.binary(), st.sampled_from(["image/png", "text/plain;charset=utf-8", "application/octet-stream"]))
def test_a_url_carries_the_bytes(data: bytes, media_type: str) -> None:
    assert read_data_url(data_url(data, media_type=media_type)) == data


@pytest.mark.parametrize(
    ("url", "data"),
    [
        ("data:,a%20b", b"a b"),
        ("DATA:text/plain;BASE64,YQ==", b"a"),
        ("data:text/plain;base64,YQ%3D%3D", b"a"),
        ("data:text/plain;base64,!", None),
        ("data:text/plain;base64", None),
        ("https://example.com/a,b", None),
        ("", None),
    ],
)
def test_other_spellings_of_urls_are_read_or_said_to_be_unreadable(url: str, data: bytes | None) -> None:
    assert read_data_url(url) == data


def test_a_file_is_read_from_its_path(tmp_path: Path) -> None:
    path = tmp_path / "plot.PNG"
    path.write_bytes(b"not really")
    assert ImagePart.from_path(path) == ImagePart.from_bytes(b"not really", media_type="image/png")
    assert FilePart.from_path(path, name="a/b.csv") == FilePart(
        name="b.csv", media_type="text/csv", url=data_url(b"not really", media_type="text/csv")
    )
    with pytest.raises(FileNotFoundError):
        ImagePart.from_path(tmp_path / "none.png")


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: ImagePart.from_bytes(b"text"), "found 4 bytes of another kind"),
        (lambda: ImagePart.from_bytes(b"text", media_type="text/plain"), "found text/plain"),
        (lambda: ImagePart.from_bytes("plot.png"), "Expected bytes, found str"),
        (lambda: ImagePart.from_bytes("plot.png", media_type="image/png"), "Use from_path"),
        (lambda: FilePart.from_bytes(None, name="x.txt"), "Expected bytes, found NoneType"),
    ],
)
def test_what_is_no_image_or_no_bytes_is_refused(make: Any, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        make()


def test_a_part_shows_only_the_beginning_of_its_bytes() -> None:
    assert len(repr(ImagePart.from_bytes(PNG * 10_000))) < 120
    assert len(repr(FilePart.from_bytes(PNG * 10_000, name="a"))) < 160
    assert repr(ImagePart(url="https://a.example/b.png")) == "ImagePart(url='https://a.example/b.png')"


@pytest.mark.parametrize(
    ("url", "media_type"),
    [
        ("data:image/PNG;base64,AA", "image/png"),
        ("data:;base64,AA", "text/plain"),
        ("https://a.example/b.png", None),
    ],
)
def test_a_url_says_what_it_carries(url: str, media_type: str | None) -> None:
    assert ImagePart(url=url).media_type == media_type


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (FilePart.from_bytes("\ufeffGrüße\n".encode(), name="notes.txt"), "Grüße\n"),
        (FilePart.from_bytes(b'{"a": 1}', name="a.json"), '{"a": 1}'),
        (FilePart.from_bytes(b"<f/>", name="a", media_type="application/atom+xml; charset=utf-8"), "<f/>"),
        (FilePart(name="a.txt", media_type="Text/Plain", url="data:,a%20b"), "a b"),
        (FilePart.from_bytes(b"%PDF-1.7", name="a.pdf"), None),
        (FilePart.from_bytes(b"\xff\xfe", name="a.txt"), None),
        (FilePart(name="a.txt", media_type="text/plain", url="https://a.example/a.txt"), None),
        (FilePart(name="a.txt", media_type="text/plain", url="data:text/plain;base64,!!"), None),
    ],
)
def test_files_of_text_tell_their_words(part: FilePart, text: str | None) -> None:
    assert part.plain_text == text


@pytest.mark.parametrize(
    ("url", "is_common"),
    [
        ("data:image/png;base64,AAAA", True),
        ("https://a.example/b", True),
        ("data:image/svg+xml;base64,AAAA", False),
        ("data:image/png,raw", False),
        ("data:image/png;base64,", False),
        ("file:///etc/passwd", False),
        ("", False),
    ],
)
def test_an_image_says_whether_models_take_its_kind(url: str, is_common: bool) -> None:
    assert ImagePart(url=url).is_common == is_common
