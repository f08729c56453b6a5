"""Leading a small local model: short questions whose answers are read off likelihoods, instead of one long answer.

`Guided` is a model around a model that offers `GuidedModel`; the loop does not know the difference.
"""

from wieldy.run.guided.port import Completion, GuidedModel, Weighed, Written
from wieldy.run.guided.strategy import Guided

__all__ = ["Completion", "Guided", "GuidedModel", "Weighed", "Written"]
