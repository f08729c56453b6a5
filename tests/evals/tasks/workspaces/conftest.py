"""An image of this machine's own programs; tests are skipped where no container starts, and say why."""

from __future__ import annotations

import pytest

from ....sandbox.tiers.container_images import Podman, import_programs  # noqa: TID252 - tests are on no path

IMAGE = "localhost/debian:stable-slim"
"""As the examples name it: podman finds an image of its own by the short name."""


@pytest.fixture(scope="session")
def image(podman: Podman, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The image's name."""
    reason = import_programs(podman, tmp_path_factory.mktemp("programs"), IMAGE)
    if reason is not None:
        pytest.skip(f"podman: {reason}")
    return "debian:stable-slim"
