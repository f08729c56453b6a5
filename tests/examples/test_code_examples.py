"""The examples of code actions run, each as a program of its own, and print what their pages say."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from wieldy.sandbox import probe

FOLDER = Path(__file__).parents[2] / "examples" / "code"


@pytest.fixture(scope="module", autouse=True)
def sandboxed() -> None:
    tiers = probe()
    if not any(tier.works for tier in tiers):
        pytest.skip("; ".join(f"{tier.name}: {tier.reason}" for tier in tiers))


def printed(name: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(FOLDER / name)],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_code_does_the_arithmetic() -> None:
    assert printed("mean.py") == "The mean is 5.0.\n"


def test_sixteen_calls_are_one_action() -> None:
    assert printed("prices.py") == 'value: ["JP",619.8]\n2 requests to the model, 17 calls\n'


def test_a_picture_is_located_cropped_and_asked_about() -> None:
    assert printed("pictures.py") == "value: [2,1,1,4]\n"


def test_of_ten_thousand_rows_less_than_a_kilobyte_is_read() -> None:
    text = printed("rows.py")
    found = json.loads(text.splitlines()[0].removeprefix("value: "))
    expected = [[n, n * 7 % 1000] for n in range(0, 10_000, 13) if n * 7 % 1000 > 950]
    assert found == expected
    assert len(found) > 10
    [size] = re.findall(r"The model read (\d+) bytes.", text)
    assert int(size) < 1000


@pytest.mark.skipif(importlib.util.find_spec("pandas") is None, reason="pandas is not installed")
def test_pandas_finds_the_largest() -> None:
    assert printed("largest.py") == f'value: ["W",{sum(range(3, 1000, 4))}]\n'
