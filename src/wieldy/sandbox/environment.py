"""All that is in the environment of an interpreter in a sandbox: nothing of ours."""

from __future__ import annotations

from typing import Final

ENVIRONMENT: Final = {
    "HOME": "/scratch",
    "TMPDIR": "/scratch",
    "MPLCONFIGDIR": "/scratch/.matplotlib",
    "MPLBACKEND": "Agg",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    "PYTHONUTF8": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
}
