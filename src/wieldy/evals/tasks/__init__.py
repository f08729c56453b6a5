"""Tasks of one's own: read from a file, run in an environment, judged by calls, way, answer and end state.

Begin with `task`, then `judging`. Below: `cases`; above: `studies`.
"""
