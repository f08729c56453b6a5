"""What tests use instead of mocks: models that follow a script or repeat a recording, and a clock that stands still.

They keep the promises of the real things: a scripted model refuses the histories that strict providers refuse,
streams in pieces and respects a token limit. Deliberately not here: fakes of tools (write a function) and of journals
(the one in memory is real). Above: `connect`; below: `run`, whose records the recordings use.
"""

from __future__ import annotations

from wieldy.testing.clock import FakeClock
from wieldy.testing.guided import ScriptedGuidedModel, spelled
from wieldy.testing.recorded import RecordingModel, ReplayedModel, record
from wieldy.testing.scripted import ScriptedCall, ScriptedModel, call, reasoning, text

__all__ = [
    "FakeClock",
    "RecordingModel",
    "ReplayedModel",
    "ScriptedCall",
    "ScriptedGuidedModel",
    "ScriptedModel",
    "call",
    "reasoning",
    "record",
    "spelled",
    "text",
]
