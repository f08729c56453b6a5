"""The programs that some tests need: installs them where that is allowed, and starts servers to be thrown away.

    python scripts/services.py install     before the tests; says what will be skipped where it cannot install

A test session starts its own server (`running_postgres`): a new cluster in a temporary folder, on the loopback address
only, which is stopped and removed at the end. Nothing that was there before is used or changed.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NEEDED = ("initdb", "pg_ctl", "postgres")
WHERE_DEBIAN_PUTS_THEM = "/usr/lib/postgresql/*/bin"
NO_CLUSTER = Path("/etc/postgresql-common/createcluster.d/only-for-tests.conf")
UNPRIVILEGED = ("postgres", "nobody")
"""Whom the server runs as where we are the administrator, which it refuses to run as."""


def postgres_programs() -> Path | None:
    """The folder with the programs of a PostgreSQL server, the newest there is; None if it is not installed."""
    folders = sorted(
        Path("/").glob(WHERE_DEBIAN_PUTS_THEM.lstrip("/")), key=lambda folder: _number(folder.parent.name), reverse=True
    )
    on_path = shutil.which("pg_ctl")
    if on_path:
        folders.append(Path(on_path).resolve().parent)
    return next((folder for folder in folders if all((folder / name).exists() for name in NEEDED)), None)


def why_no_postgres() -> str | None:
    """Why the tests that need a PostgreSQL server cannot run; None if they can."""
    if os.name != "posix":
        return "tests with PostgreSQL start it as on Linux and macOS"
    if postgres_programs() is None:
        return "no PostgreSQL server is installed; on Debian and Ubuntu: apt-get install postgresql"
    if os.geteuid() == 0 and _unprivileged() is None:
        return f"PostgreSQL refuses to run as root, and there is no user {' or '.join(UNPRIVILEGED)}"
    return None


def install() -> None:
    """They are installed, or it was said why not; always ends well, since the other tests are worth running."""
    _install_postgres()
    _install_browser()


def _install_postgres() -> None:
    if postgres_programs() is None and shutil.which("apt-get") and os.geteuid() == 0:
        print("Installing PostgreSQL for the tests that need a server ...", flush=True)
        _apt_get("update")
        # The tests make a cluster of their own: without this, the package would make and start one.
        _apt_get("install", "postgresql-common")
        if NO_CLUSTER.parent.parent.is_dir():
            NO_CLUSTER.parent.mkdir(exist_ok=True)
            NO_CLUSTER.write_text("create_main_cluster = false\n", encoding="utf-8")
        _apt_get("install", "postgresql")
    reason = why_no_postgres()
    said = f"Tests with PostgreSQL will be skipped: {reason}." if reason else f"PostgreSQL: {postgres_programs()}"
    print(said, file=sys.stderr if reason else sys.stdout, flush=True)


def _install_browser() -> None:
    if why_no_browser() is not None and shutil.which("apt-get") and os.geteuid() == 0:
        print("Installing Chromium for the tests that open pages ...", flush=True)
        _apt_get("update")
        _apt_get("install", "chromium")
    reason = why_no_browser()
    said = f"Tests with a browser will be skipped: {reason}." if reason else f"Chromium: {browser_program()}"
    print(said, file=sys.stderr if reason else sys.stdout, flush=True)


def browser_program() -> str | None:
    """The browser that is installed here; None if there is none."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


def why_no_browser() -> str | None:
    """Why the tests that open pages cannot run; None if they can."""
    if os.name != "posix":
        return "tests with a browser start it as on Linux and macOS"
    if browser_program() is None:
        return "no Chromium is installed; on Debian and Ubuntu: apt-get install chromium"
    return None


class Postgres:
    """A server of its own, in a folder of its own; `start` and `stop` as often as a test likes."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs, self._data, self._log = programs, folder / "data", folder / "server.log"
        self._run_as = _unprivileged() if os.geteuid() == 0 else None
        self._password = secrets.token_hex(8)
        self.port = _free_port()
        self.url = f"postgresql://wieldy:{self._password}@127.0.0.1:{self.port}/postgres"
        if self._run_as:
            shutil.chown(folder, self._run_as)
        password_file = folder / "password"
        password_file.write_text(self._password, encoding="utf-8")
        if self._run_as:
            shutil.chown(password_file, self._run_as)
        self._call(
            "initdb", "--no-sync", "--username=wieldy", "--auth=scram-sha-256", f"--pwfile={password_file}",
            "--encoding=UTF8", "--locale=C", "--pgdata", str(self._data),
        )  # fmt: skip
        # No name in the file system, and no disk to wait for: what these tests look at is not the server's durability.
        settings = {
            "listen_addresses": "'127.0.0.1'", "port": self.port, "unix_socket_directories": "''", "fsync": "off",
            "max_connections": 60, "shared_buffers": "'16MB'",
        }  # fmt: skip
        with (self._data / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.writelines(f"{name} = {value}\n" for name, value in settings.items())

    def start(self) -> None:
        """The server answers."""
        self._call("pg_ctl", "start", "--wait", "--timeout=60", "--pgdata", str(self._data), "--log", str(self._log))

    def stop(self, *, mode: str = "immediate") -> None:
        """The server has ended: at once, like one that crashes, or (`fast`) after telling everybody."""
        self._call("pg_ctl", "stop", "--wait", "--timeout=60", f"--mode={mode}", "--pgdata", str(self._data))

    def _call(self, program: str, *arguments: str) -> None:
        command = [str(self._programs / program), *arguments]
        # The server outlives pg_ctl and keeps its output open: a file, since a pipe would never end.
        with tempfile.TemporaryFile() as output:
            finished = subprocess.run(
                command, user=self._run_as, group=_group(self._run_as), extra_groups=[] if self._run_as else None,
                cwd="/", stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, timeout=120, check=False,
            )  # fmt: skip
            output.seek(0)
            if finished.returncode:
                log = self._log.read_text(encoding="utf-8") if self._log.exists() else ""
                raise RuntimeError(f"{program} failed: {output.read().decode(errors='replace')}{log}")


@contextmanager
def running_postgres() -> Iterator[Postgres]:
    """A server that runs until the end of the block."""
    programs = postgres_programs()
    if programs is None:
        raise RuntimeError(why_no_postgres())
    folder = Path(tempfile.mkdtemp(prefix="wieldy-postgres-"))
    try:
        server = Postgres(programs, folder)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged() -> str | None:
    import pwd  # not on every system  # noqa: PLC0415

    known = {entry.pw_name for entry in pwd.getpwall()}
    return next((name for name in UNPRIVILEGED if name in known), None)


def _group(user: str | None) -> int | None:
    import pwd  # not on every system  # noqa: PLC0415

    return pwd.getpwnam(user).pw_gid if user else None


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _apt_get(*arguments: str) -> None:
    command = ["apt-get", "--quiet", "--yes", "--no-install-recommends", *arguments]
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)


if __name__ == "__main__":
    if sys.argv[1:] != ["install"]:
        sys.exit("usage: python scripts/services.py install")
    install()
