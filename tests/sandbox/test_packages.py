"""Packages are imported once for all workers; without any, none of the environment can be seen."""

from __future__ import annotations

import importlib.util
import sys
import venv
from pathlib import Path

import pytest

from wieldy.sandbox import Session

from .conftest import Opener

pytestmark = pytest.mark.anyio

NEEDED = ("numpy", "matplotlib")


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """An environment of its own with two packages: one to ask for, one beside it."""
    venv.create(tmp_path / "env", with_pip=False, symlinks=True)
    packages = tmp_path / "env" / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    (packages / "asked_for.py").write_text("import os\nimported_by = os.getpid()\ncounter = []\n")
    (packages / "beside.py").write_text("here = True\n")
    return tmp_path / "env"


async def test_a_package_is_imported_once_and_workers_do_not_disturb_one_another(
    open_strongest: Opener, environment: Path
) -> None:
    async with open_strongest(python=str(environment / "bin" / "python"), packages=["asked_for"]) as session:
        code = "import os, sys\nloaded = 'asked_for' in sys.modules\nimport asked_for\nasked_for.counter.append(1)\n"
        found = f"{code}[loaded, len(asked_for.counter), asked_for.imported_by == os.getpid()]"
        assert (await session.run(found)).value == [True, 1, False]
        assert (await session.run(found)).value == [True, 2, False]
        assert (await session.run(found, fresh=True)).value == [True, 1, False]
        assert (await session.run("import beside\nbeside.here")).value is True


async def test_without_packages_none_of_the_environment_can_be_imported(
    open_strongest: Opener, environment: Path
) -> None:
    async with open_strongest(python=str(environment / "bin" / "python")) as session:
        outcome = await session.run("import asked_for")
        assert outcome.error is not None
        assert outcome.error.type == "ModuleNotFoundError"
        path = environment / "lib"
        assert (await session.run(f"import os\nos.path.exists({str(path)!r})")).value is False


async def test_packages_that_lie_within_the_standard_library_are_hidden_unless_asked_for(session: Session) -> None:
    code = """
import os, sysconfig
directory = os.path.join(sysconfig.get_path("stdlib"), "site-packages")
found = []
for name in os.listdir(directory) if os.path.isdir(directory) else ():
    try:
        found.append(len(os.listdir(os.path.join(directory, name))))
    except OSError:
        continue
found
"""
    assert (await session.run(code)).value == []


@pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in NEEDED),
    reason=f"needs {' and '.join(NEEDED)} installed here",
)
async def test_open_figures_come_as_pictures_and_arrays_as_lists(open_strongest: Opener) -> None:
    async with open_strongest(packages=NEEDED) as session:
        outcome = await session.run("import matplotlib.pyplot as plt\nplt.plot([1, 3, 2])\nplt.figure()\nNone")
        assert [file.name for file in outcome.artifacts] == ["figure-1.png", "figure-2.png"]
        assert all(file.content.startswith(b"\x89PNG") for file in outcome.artifacts)
        assert (await session.run("import numpy\nnumpy.arange(3) * 1.5")).value == [0.0, 1.5, 3.0]
        assert (await session.run("plt.get_fignums()")).value == []
        draw = "[numpy.random.rand(), numpy.random.default_rng().random()]"
        assert (await session.run(draw, seed=3)).value == (await session.run(draw, seed=3)).value
