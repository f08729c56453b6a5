"""The vocabulary: calls, results, messages, events, limits, errors and ports.

Standard library only; records are frozen and say nothing about how they travel. Everything above speaks these words.
Deliberately not here: validation of arguments (`schema`), wire formats (`connect`), anything that waits.
"""
