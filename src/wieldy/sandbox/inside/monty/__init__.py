"""Runs code in Monty, an interpreter for a part of Python that reaches nothing of the machine, and speaks for it.

A process of its own: it holds the client of Monty, which starts one more that interprets. What there is of the outside
for code (calls, time, chance, waiting) is answered here, in lockstep with the host; files, programs and addresses are
not. `pydantic_monty` is all that this needs beside the standard library.
"""
