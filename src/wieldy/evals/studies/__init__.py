"""Studies: cases times configurations times trials, run at once, by processes or machines, resumable at any point.

Begin with `study`, then `running`. Below: `tasks`; above: `reports`.
"""
