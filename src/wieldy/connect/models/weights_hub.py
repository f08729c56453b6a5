"""The first source of weights: the official repository on the model hub, at a pinned commit.

The hub's own client does the work, with its own settings (endpoint, token, offline flag), as a child process:
this file is also what the child runs. What arrives is not trusted here; `weights` checks size and checksum.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from wieldy.connect.models.weights_catalogue import HubFile, Weights
from wieldy.connect.models.weights_process import run_python
from wieldy.core.errors import ModelNotAvailableError
from wieldy.core.extras import installing

_CONNECT_S = 5.0
_PATIENCE_S = 45.0
_FETCHED = "fetched"


def cached_in_hub_cache(hub: HubFile) -> Path | None:
    """Where the hub's client keeps the file, if it has it: other programs may have fetched it already."""
    try:
        # Optional, and slow to import: only when our own cache has nothing.
        from huggingface_hub import try_to_load_from_cache  # noqa: PLC0415

        found = try_to_load_from_cache(hub.repository, hub.file_name, revision=hub.revision)
    except (ImportError, OSError):
        return None
    return Path(found) if isinstance(found, str) else None


def fetch_from_hub(weights: Weights, *, folder: Path, on_bytes: Callable[[int], None]) -> Path:
    """The file lies under `folder`, as the hub gave it.

    Raises:
        ModelNotAvailableError: The hub cannot be reached or does not have it; the text says why.
        OSError: The disk failed us.
    """
    hub = weights.hub
    if hub is None:
        raise ModelNotAvailableError("no official file with this checksum is known there")
    arguments = ["-m", __name__, hub.repository, hub.file_name, hub.revision, str(folder), str(weights.size_bytes)]
    finished = run_python(arguments, folder=folder, on_bytes=on_bytes, patience_s=_PATIENCE_S)
    if finished.exit_code is None:
        raise ModelNotAvailableError(f"nothing arrived for {_PATIENCE_S:.0f} s")
    if finished.exit_code != 0:
        raise ModelNotAvailableError(_reason(finished.output, finished.exit_code))
    return folder / _FETCHED


def _reason(output: str, exit_code: int) -> str:
    """The message of the last exception in a traceback, on one line."""
    if "No module named 'huggingface_hub'" in output:
        return f"its client is not installed ({installing('local')})"
    messages = re.findall(r"^[\w.]*(?:Error|Exception|IsEnabled): (.+)$", output, flags=re.MULTILINE)
    return messages[-1].strip() if messages else f"its client ended with exit code {exit_code}"


def _download(arguments: Sequence[str]) -> None:
    """Runs in the child; leaves the file under a name that the parent knows."""
    # As above; one parameter that is not used here has an incomplete type.
    from huggingface_hub import (  # noqa: PLC0415
        get_hf_file_metadata,  # pyright: ignore[reportUnknownVariableType]
        hf_hub_download,  # pyright: ignore[reportUnknownVariableType]
        hf_hub_url,
    )

    repository, file_name, revision, folder, size_bytes = arguments
    url = hf_hub_url(repository, file_name, revision=revision)
    # One quick question first: the download itself asks six times, for half a minute, before it gives up.
    offered = get_hf_file_metadata(url, timeout=_CONNECT_S).size
    if offered is not None and offered != int(size_bytes):
        raise ValueError(f"expected a file of {size_bytes} bytes, the hub offers one of {offered}")
    # A cache of its own: the client would otherwise serve a damaged file from the user's cache again and again.
    fetched = hf_hub_download(repository, file_name, revision=revision, cache_dir=folder)
    Path(fetched).resolve().replace(Path(folder) / _FETCHED)


def _end_with_parent() -> None:
    """Ends this process when the parent is gone, however it died: nobody would use the download."""
    # Not through `sys.stdin`: Python could not close it, and would abort, while this thread waits in it.
    os.read(0, 1)
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _download(sys.argv[1:])
