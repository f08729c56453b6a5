"""What a trial was better than its group by, as trainers compute it; for those that do not do it themselves.

Source: TRL 1.16 `GRPOTrainer` (`scale_rewards="group"`), ART 0.5.18 `tokenize_trajectory_groups`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, pstdev, stdev
from typing import Final

Advantages = Callable[[Sequence[float]], list[float]]


def _trl(rewards: Sequence[float]) -> list[float]:
    mean = fmean(rewards)
    spread = stdev(rewards) if len(rewards) > 1 else 0.0
    return [(reward - mean) / (spread + 1e-4) for reward in rewards]


def _art(rewards: Sequence[float]) -> list[float]:
    mean = fmean(rewards)
    spread = pstdev(rewards)
    return [(reward - mean) / (spread + 1e-6) for reward in rewards]


ADVANTAGES: Final[Mapping[str, Advantages]] = {"trl": _trl, "art": _art}
"""By the trainer whose formula it is."""
