"""How a container is started is said in its command: nothing that code does not need, and nothing fetched."""

from __future__ import annotations

import json
import os
import subprocess
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

import anyio
import pytest

from wieldy import SandboxTierError, sandbox
from wieldy.sandbox import SandboxLimits
from wieldy.sandbox.containers import DEFAULT_IMAGE, Engine, EngineName, find, sources
from wieldy.sandbox.options import Options
from wieldy.sandbox.tiers import StartError

from .conftest import LIMITS, Opened
from .container_images import IMAGE

ENGINES = get_args(EngineName)


def options_of(command: list[str]) -> dict[str, list[str]]:
    """What `run` is told, by the names of its options; a flag has itself."""
    found: dict[str, list[str]] = {}
    at = command.index("run") + 1
    while command[at].startswith("--"):
        name, equals, value = command[at].partition("=")
        if not equals and name not in ("--rm", "--interactive", "--read-only"):
            at += 1
            value = command[at]
        found.setdefault(name, []).append(value)
        at += 1
    return found


@pytest.mark.parametrize("name", ENGINES)
def test_a_container_is_given_nothing_that_code_does_not_need(name: EngineName) -> None:
    limits = SandboxLimits(memory_bytes=100 << 20, files_bytes=10 << 20)
    command = Engine(name=name, path="/usr/bin/x", image="sha256:abc").command("it", Options(limits=limits))
    told = options_of(command)
    assert told["--network"] == told["--ipc"] == ["none"]
    assert told["--pull"] == ["never"]
    assert told["--cap-drop"] == ["ALL"]
    assert told["--security-opt"] == ["no-new-privileges"]
    assert told["--user"] == ["65532:65532"]
    assert told["--log-driver"] == ["none"]
    assert told["--memory"] == told["--memory-swap"] == [f"{(100 + 10 + 64) << 20}b"]
    assert int(told["--pids-limit"][0]) <= 64
    assert "--read-only" in told
    assert told["--tmpfs"] == [f"/scratch:rw,noexec,nosuid,nodev,size={10 << 20},mode=1777"]
    assert "--volume" not in told
    assert "--mount" not in told
    assert not any(option in told for option in ("--privileged", "--cap-add", "--device", "--publish"))
    assert command[command.index("--entrypoint") + 2] == "sha256:abc"
    assert ("--read-only-tmpfs" in told) == (name == "podman")


@pytest.mark.parametrize("name", ENGINES)
def test_nothing_of_the_programs_environment_goes_into_a_container(name: EngineName) -> None:
    told = options_of(Engine(name=name, path="x", image="y").command("it", Options(limits=LIMITS)))
    given = dict(each.split("=", 1) for each in told["--env"])
    assert {given[name] for name in given if name.lower().endswith("_proxy")} == {""}
    assert given["PYTHONHASHSEED"] == "0"
    assert not set(given) & {"PATH", "USER", "PWD"}


@pytest.mark.parametrize("name", ENGINES)
def test_what_is_to_be_readable_is_mounted_for_reading_only(name: EngineName) -> None:
    command = Engine(name=name, path="x", image="y").command("it", Options(limits=LIMITS, readable=("/data", "/more")))
    assert options_of(command)["--mount"] == [
        f"type=bind,source={path},target={path},readonly" for path in ("/data", "/more")
    ]


def test_all_that_runs_in_a_container_is_sent_there() -> None:
    content = sources()
    modules = json.loads(zlib.decompress(content[4:]))
    assert int.from_bytes(content[:4], "big") == len(content) - 4
    assert len(content) < 1 << 16, "it is sent before anybody reads"
    assert {"inside", "inside.container", "inside.guest.serving", "inside.linux.seccomp"} <= set(modules)
    assert [name for name, (_, is_package) in modules.items() if is_package] == [
        name for name in modules if any(other.startswith(f"{name}.") for other in modules)
    ]


@contextmanager
def commands(tmp_path: Path, **scripts: str) -> Iterator[None]:
    """Programs of these names are all that can be found."""
    for name, script in scripts.items():
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PATH", str(tmp_path))
        yield


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo 'cannot connect: is it running?' >&2; exit 1", "cannot connect: is it running?"),
        ("exit 3", "exit status 3"),
        ('[ "$1" = version ]', f"run `docker pull {DEFAULT_IMAGE}`"),
    ],
)
def test_an_engine_that_cannot_be_used_says_why_and_what_to_do(tmp_path: Path, script: str, said: str) -> None:
    with commands(tmp_path, docker=script), pytest.raises(StartError) as refused:
        anyio.run(find, "docker", None)
    assert said in str(refused.value)


def test_an_engine_that_is_not_installed_is_told(tmp_path: Path) -> None:
    with commands(tmp_path), pytest.raises(SandboxTierError) as refused:
        anyio.run(open_and_close, ["docker", "podman"])
    assert refused.value.reasons == {name: f"the command {name} is not installed" for name in ENGINES}


async def open_and_close(tier: Any, **options: Any) -> None:
    async with sandbox.open(tier, **options):
        pass


@pytest.fixture
def contained(podman: object) -> Iterator[Opened]:
    from anyio.from_thread import start_blocking_portal

    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(sandbox.open("podman", limits=LIMITS, image=IMAGE)) as session,
    ):
        yield Opened(session, portal)


@pytest.mark.usefixtures("podman")
def test_an_image_that_is_not_here_is_not_fetched() -> None:
    with pytest.raises(SandboxTierError) as refused:
        anyio.run(lambda: open_and_close("podman", image="localhost/nowhere:latest"))
    assert "run `podman pull localhost/nowhere:latest`" in refused.value.reasons["podman"]


@pytest.mark.usefixtures("podman")
def test_an_interpreter_that_the_image_does_not_have_is_told() -> None:
    with pytest.raises(SandboxTierError) as refused:
        anyio.run(lambda: open_and_close("podman", image=IMAGE, python="/opt/none/python"))
    assert "/opt/none/python" in refused.value.reasons["podman"]


@pytest.mark.usefixtures("podman")
def test_packages_that_the_image_does_not_have_are_told() -> None:
    with pytest.raises(SandboxTierError) as refused:
        anyio.run(lambda: open_and_close("podman", image=IMAGE, packages=["no_such_package"]))
    assert "no_such_package" in refused.value.reasons["podman"]


def test_files_go_in_and_come_out(contained: Opened) -> None:
    code = "text = open('in/a.txt').read()\nopen('out.txt', 'w').write(text.upper())"
    outcome = contained.run(code, files={"in/a.txt": b"hello"})
    assert [(each.name, each.content) for each in outcome.artifacts] == [("out.txt", b"HELLO")]
    assert contained.run("import os\nos.listdir()", fresh=True).value == []


def test_files_are_limited(contained: Opened) -> None:
    many = contained.run("for each in range(30):\n    open(str(each), 'w').close()")
    assert (many.status, many.killed_because) == ("killed", "files")
    large = contained.run("open('x', 'wb').write(bytes(10**9))", fresh=True)
    assert large.status in ("error", "killed")


def test_code_is_in_a_container_and_locked_in_there(contained: Opened) -> None:
    status = contained.run(
        "import os\ntext = open('/proc/self/status').read()\n"
        "{line.split(':')[0]: line.split(':')[1].strip() for line in text.splitlines()}"
    ).value
    assert isinstance(status, dict)
    assert status["NoNewPrivs"] == "1"
    assert status["CapEff"] == status["CapPrm"] == status["CapBnd"] == "0" * 16
    assert status["Uid"].split() == ["65532"] * 4
    assert (status["Seccomp"], int(status["Seccomp_filters"]) >= 2) == ("2", True)
    assert contained.run("import os\nos.uname().nodename").value == "sandbox"
    assert sorted(contained.run("import os\n[n for n in os.listdir('/proc') if n.isdigit()]").value or []) != []


def test_what_is_named_can_be_read_there(podman: object, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "data.txt").write_text("data")
    (tmp_path / "data.txt").chmod(0o644)

    async def read() -> Any:
        async with sandbox.open("podman", image=IMAGE, readable=[str(tmp_path)]) as session:
            return await session.run(f"open({str(tmp_path / 'data.txt')!r}).read()")

    assert anyio.run(read).value == "data"


def test_no_container_is_left(podman: object) -> None:
    async def use() -> None:
        async with sandbox.open("podman", image=IMAGE, limits=LIMITS) as session:
            await session.run("while True:\n    pass")
            await session.run("1", fresh=True)

    anyio.run(use)
    listed = subprocess.run(["podman", "ps", "--all", "--quiet"], capture_output=True, check=True, env=os.environ)
    assert listed.stdout == b""


def test_the_tier_withstands_the_attempts_of_the_probe(podman: object) -> None:
    found = {tier.name: tier for tier in sandbox.probe(image=IMAGE)}["podman"]
    assert (found.works, found.reason) == (True, None)
