"""The runtime: one loop that asks a model, lets its calls run in order, and writes down what happened.

How a call travels: `pipeline` (look up, validate, decide) -> `scheduler` (what waits for what) -> `executor` (the
tool's code) -> `results` (what the model reads); `loop` drives it, and every step is an entry of the `journal`, of
which `state` is the fold. Above: `agent`. Below: `tools` and `core`. Deliberately not here: providers (`connect`) and
terminals (`apps`).
"""
