"""The guest: runs code that it is sent and speaks of it in frames, over any stream of bytes.

It enforces nothing. The code that runs in it can do whatever it does, so every rule is the host's and the kernel's.
"""
