"""Fetches the smallest model for `make test`; where it cannot be had says so and goes on: those tests are skipped."""

import sys

from wieldy.connect.models.weights import SMALLEST, fetch, find
from wieldy.core.errors import ModelNotAvailableError


def main() -> None:
    """Always ends well: tests without a model are still worth running."""
    if find(SMALLEST) is None:
        print(
            f"Fetching {SMALLEST.name} ({SMALLEST.size_bytes / 1e6:.0f} MB) for the tests marked `model` ...",
            flush=True,
        )
    try:
        print(f"The smallest model: {fetch(SMALLEST)}", flush=True)
    except ModelNotAvailableError as error:
        print(f"Tests marked `model` will be skipped. {error}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
