"""Binary operators where they stand in the code: they can fail there."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from wieldy.sandbox.tracked.control import Frame
from wieldy.sandbox.tracked.objects import Value, shallow
from wieldy.sandbox.tracked.operators import HOST_ERRORS, binary, failed

if TYPE_CHECKING:
    from wieldy.sandbox.tracked.machine import Machine


def apply_binary(machine: Machine, kind: ast.operator, left: Value, right: Value, frame: Frame) -> Value:
    """What the operator gives for the two."""
    label = shallow(left) | shallow(right)
    if label:
        machine.control.may_fail(frame, label)
    try:
        return binary(kind, left, right, machine.meter)
    except HOST_ERRORS as error:
        raise failed(error, label) from None
