"""Charts that the code drew and left open, as pictures."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from typing import Any, cast


def open_figures() -> Iterator[tuple[str, bytes]]:
    """Names and PNG images of matplotlib's open figures, which are closed."""
    pyplot = cast("Any", sys.modules.get("matplotlib.pyplot"))
    if pyplot is None:
        return
    for number in pyplot.get_fignums():
        image = io.BytesIO()
        pyplot.figure(number).savefig(image, format="png")
        yield f"figure-{number}.png", image.getvalue()
    pyplot.close("all")
