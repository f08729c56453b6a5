"""The parts of `benchmarks/actions.py`: a world with tools, tasks in it, and solvers that act in three ways."""
