"""The subjects of `benchmarks/runtime.py`: one module each, measured by the same code (`measuring`) in its own process.

Deliberately not here: comparing them and printing, which is `runtime.py`'s.
"""
