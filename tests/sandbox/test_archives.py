"""Archives: what goes in comes out, and whatever comes out of a container is read without harm."""

from __future__ import annotations

import io
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.sandbox.archives import files_in, packed, restorable
from wieldy.sandbox.texts import is_file_name

NAMES = st.text(alphabet="ab/.é -", min_size=1, max_size=8)
FILES = st.dictionaries(NAMES.filter(is_file_name), st.binary(max_size=600), max_size=5)
ROOM = 1 << 20

_KEPT = tarfile.REGTYPE, tarfile.LNKTYPE, tarfile.SYMTYPE, tarfile.DIRTYPE
_OTHER = tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.GNUTYPE_SPARSE, tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME, b"?"
KINDS = st.sampled_from([*_KEPT, *_OTHER])


@st.composite
def members(draw: st.DrawFn) -> tuple[tarfile.TarInfo, bytes]:
    content = draw(st.binary(max_size=600))
    member = tarfile.TarInfo(draw(NAMES | st.sampled_from(["../up", "/etc/passwd", ".", "./a", "a/../../b"])))
    member.type, member.linkname = draw(KINDS), draw(NAMES)
    member.mode, member.mtime = draw(st.integers(0, 0o7777)), draw(st.integers(-5, 1 << 40))
    member.size = len(content)
    return member, content


def archive_of(written: list[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for member, file in written:
            archive.addfile(member, io.BytesIO(file))
    return content.getvalue()


@given(FILES)
def test_what_is_packed_is_there_again(files: dict[str, bytes]) -> None:
    archive = restorable(packed(files), most_files=5, most_bytes=ROOM)
    assert archive is not None
    assert files_in(packed(files)) == files_in(archive) == files


@given(st.lists(members(), max_size=5), st.data())
def test_whatever_a_container_sends_no_path_leads_out_and_no_bound_is_passed(
    written: list[tuple[tarfile.TarInfo, bytes]], data: st.DataObject
) -> None:
    sent = bytearray(archive_of(written))
    for _ in range(data.draw(st.integers(0, 3))):
        sent[data.draw(st.integers(0, len(sent) - 1))] = data.draw(st.integers(0, 255))
    sent = sent[: data.draw(st.integers(0, len(sent)))]
    archive = restorable(bytes(sent), most_files=4, most_bytes=1000)
    if archive is None:
        return
    files = files_in(archive)
    assert all(map(is_file_name, files))
    assert len(files) <= 4
    assert sum(map(len, files.values())) <= 1000
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        assert all(is_file_name(member.name) and member.mode <= 0o777 for member in opened)
    assert restorable(archive, most_files=4, most_bytes=1000) == archive


@given(st.binary(max_size=2000))
def test_bytes_that_are_no_archive_are_none(content: bytes) -> None:
    restorable(content, most_files=4, most_bytes=1000)


@pytest.mark.parametrize("files", [{"a": b"x" * 1001}, {"a": b"x" * 501, "b": b"x" * 500}, dict.fromkeys("abcde", b"")])
def test_more_than_there_may_be_is_refused(files: dict[str, bytes]) -> None:
    assert restorable(packed(files), most_files=4, most_bytes=1000) is None


def test_a_second_name_of_a_file_is_a_file() -> None:
    member = tarfile.TarInfo("./a")
    member.size = 3
    link = tarfile.TarInfo("./b")
    link.type, link.linkname = tarfile.LNKTYPE, "./a"
    archive = restorable(archive_of([(member, b"one"), (link, b"")]), most_files=4, most_bytes=1000)
    assert archive is not None
    assert files_in(archive) == {"a": b"one", "b": b"one"}
