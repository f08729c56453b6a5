"""Files go in and come out, within limits, under names that lead nowhere else; without namespaces they only go in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy import UsageError
from wieldy.sandbox import SandboxLimits, Session
from wieldy.sandbox.texts import is_file_name, media_type_of, printed, shown_name

from .conftest import Opener

pytestmark = pytest.mark.anyio


async def test_files_that_go_in_can_be_read_where_the_code_is(session: Session) -> None:
    files = {"a.txt": b"hello", "data/b.bin": bytes(range(256)), "empty": b"", "large": b"z" * 5_000_000}
    code = "[open('a.txt').read(), *(len(open(name, 'rb').read()) for name in ('data/b.bin', 'empty', 'large'))]"
    outcome = await session.run(code, files=files)
    assert outcome.value == ["hello", 256, 0, 5_000_000]
    assert outcome.artifacts == ()


async def test_files_stay_until_a_fresh_start(session: Session) -> None:
    await session.run("1", files={"a.txt": b"hello"})
    assert (await session.run("open('a.txt').read()")).value == "hello"
    gone = await session.run("open('a.txt').read()", fresh=True)
    assert gone.error is not None
    assert gone.error.type == "FileNotFoundError"


@pytest.mark.parametrize("name", ["/etc/x", "../x", "a/../../x", "", "a//b", "a\nb", "a\0b", ".", "c:x", "a\\b"])
async def test_a_name_that_leads_elsewhere_is_refused(session: Session, name: str) -> None:
    with pytest.raises(UsageError):
        await session.run("1", files={name: b""})


async def test_files_that_the_code_writes_come_out(open_strongest: Opener) -> None:
    code = """
import os
open('plot.csv', 'w').write('a,b')
os.makedirs('deep/er')
open('deep/er/x.png', 'wb').write(b'\\x89PNG' + b'p' * 3_000_000)
open('.hidden', 'w').write('too')
open('..x', 'w').write('too')
os.makedirs('.deep/.er')
open('.deep/.er/.y', 'w').write('too')
os.makedirs('.matplotlib', exist_ok=True)
open('.matplotlib/fontlist.json', 'w').write('a library')
open('/tmp/also', 'w').write('yes')
os.symlink('/usr', 'link')
os.symlink('plot.csv', 'alias')
"""
    async with open_strongest() as session:
        outcome = await session.run(code)
        found = {artifact.name: (artifact.media_type, len(artifact.content)) for artifact in outcome.artifacts}
        assert found == {
            "plot.csv": ("text/csv", 3),
            "deep/er/x.png": ("image/png", 3_000_004),
            "also": ("application/octet-stream", 3),
            ".hidden": ("application/octet-stream", 3),
            "..x": ("application/octet-stream", 3),
            ".deep/.er/.y": ("application/octet-stream", 3),
        }
        again = await session.run("open('plot.csv', 'a').write('!')")
        assert [(artifact.name, artifact.content) for artifact in again.artifacts] == [("plot.csv", b"a,b!")]


async def test_without_a_file_system_of_its_own_code_writes_nothing(session: Session) -> None:
    if session.tier.name == "jail-ns":
        outcome = await session.run("open('/usr/x', 'w')")
    else:
        outcome = await session.run("open('x', 'w')")
    assert outcome.error is not None
    assert outcome.error.type in {"OSError", "PermissionError", "FileNotFoundError"}


@pytest.mark.parametrize(
    "code",
    [
        "open('a', 'wb').write(b'x' * 700_000)",
        "for i in range(5): open(f'{i}', 'wb').write(b'x' * 400_000)",
        "for i in range(100): open(f'{i}', 'wb').close()",
        "import os\nfd = os.open('sparse', os.O_CREAT | os.O_RDWR)\nos.ftruncate(fd, 1 << 40)",
    ],
)
async def test_room_for_files_is_limited_in_size_and_number(open_strongest: Opener, code: str) -> None:
    limits = SandboxLimits(files=20, files_bytes=1 << 20, file_bytes=1 << 19)
    async with open_strongest(limits=limits) as session:
        outcome = await session.run(code)
        assert outcome.error is not None
        assert outcome.error.type == "OSError"


async def test_files_for_which_there_is_no_room_left_are_an_error_of_the_run(open_strongest: Opener) -> None:
    async with open_strongest(limits=SandboxLimits(files_bytes=1 << 20)) as session:
        await session.run("open('mine', 'wb').write(b'x' * 900_000)")
        outcome = await session.run("1", files={"more": b"x" * 500_000})
        assert outcome.error is not None
        assert outcome.error.type == "OSError"
        assert (await session.run("1")).value == 1


async def test_paths_that_are_named_can_be_read_and_not_written(session: Session, open_tier: Opener) -> None:
    code = "import os\n[name for name in os.listdir('/etc') if name == 'passwd']"
    refused = await session.run(code)
    assert refused.error is not None
    async with open_tier(readable=["/etc"]) as other:
        assert (await other.run(code)).value == ["passwd"]
        written = await other.run("open('/etc/wieldy', 'w')")
        assert written.error is not None


@pytest.mark.parametrize("path", ["/", "etc", "/no/such/place", "//"])
async def test_a_path_to_be_read_must_be_there_and_not_be_everything(open_tier: Opener, path: str) -> None:
    with pytest.raises(UsageError, match="readable"):
        async with open_tier(readable=[path]):
            pass


async def test_files_that_cannot_come_out_are_told_and_cost_nothing_else(open_strongest: Opener) -> None:
    code = """
import os
for name in ['a\\nb', 'c\\x1b[31m', 'd:e', b'f\\xff', b'f\\\\udcff', 'closed', 'good', 'x' * 200 + '?']:
    open(name, 'w').write('x')
os.chmod('closed', 0)
'all fine'
"""
    async with open_strongest() as session:
        outcome = await session.run(code)
        assert (outcome.status, outcome.value) == ("done", "all fine")
        assert [artifact.name for artifact in outcome.artifacts] == ["good"]
        told = "\n".join(outcome.remarks)
        assert 'The file "a\\nb" is left out: its name' in told
        assert 'The file "c\\x1b[31m" is left out: its name' in told
        assert 'The file "closed" is left out: it cannot be read (PermissionError).' in told
        assert len(outcome.remarks) == 6  # the two that begin with f are shown alike
        assert (await session.run("1")).remarks == ()


async def test_more_than_the_limit_sent_by_a_guest_that_lies_ends_the_run(session: Session) -> None:
    code = """
import base64, json, os
data = base64.b64encode(b'x' * 1_000_000).decode()
for i in range(200):
    frame = json.dumps({'op': 'artifact', 'name': f'f{i}', 'data': data, 'last': True}).encode()
    frame = len(frame).to_bytes(4, 'big') + frame
    while frame:
        frame = frame[os.write(3, frame):]
"""
    assert (await session.run(code)).killed_because == "files"


@given(st.text())
def test_what_is_printed_never_has_a_control_character_and_clean_text_stays(text: str) -> None:
    clean = printed(text.encode("utf-8", "surrogatepass"))
    assert not [
        character
        for character in clean
        if (ord(character) < 32 or 127 <= ord(character) < 160) and character not in "\n\t"
    ]
    assert printed(clean.encode()) == clean


@given(st.text(alphabet="ab./\\\n:", max_size=12))
def test_a_good_name_stays_below_the_directory_it_is_put_in(name: str) -> None:
    from pathlib import PurePosixPath

    if is_file_name(name):
        path = PurePosixPath("/base") / name
        assert path.parts[:2] == ("/", "base")
        assert ".." not in path.parts
        assert str(path) == f"/base/{name}"


@given(st.text(st.characters(exclude_characters="/")))
def test_any_name_can_be_shown(name: str) -> None:
    shown = shown_name(name)
    assert shown.isprintable()
    assert printed(shown.encode()) == shown


def test_media_types_come_from_the_ending() -> None:
    assert media_type_of("a.PNG") == "image/png"
    assert media_type_of("a.csv.gz") == "application/octet-stream"
    assert media_type_of("noending") == "application/octet-stream"
