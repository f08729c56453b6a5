"""The Linux kernel's means of isolation, one module each, through ctypes and without any other package."""
