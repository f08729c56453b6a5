import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser

sys.path.insert(0, str(Path(__file__).parent))

SERVICES = Path(__file__).parents[4] / "scripts" / "services.py"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser of this module's own; the test is skipped, with the reason, where there is none."""
    specification = importlib.util.spec_from_file_location("services", SERVICES)
    assert specification is not None
    assert specification.loader is not None
    services = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(services)
    program = services.browser_program()
    if program is None or services.why_no_browser() is not None:
        pytest.skip(services.why_no_browser())
    browser = Browser(program)
    try:
        yield browser
    finally:
        browser.close()
