"""Acting by code: tools as Python functions, and code as the model of a run within the run.

The order in which to read: `names` and `stubs` say what code may call, `checking` what is wrong with it before
anything runs. Deliberately not here: isolation (`wieldy.sandbox`).
"""
