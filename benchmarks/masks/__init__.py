"""Subjects of the benchmark of constraints, each in a module of its own: what makes a constraint, and what walks it.

The modules of a subject import nothing of another one, because each peer has an environment of its own.
"""
