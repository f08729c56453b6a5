"""What runs in the interpreter of the sandbox: isolation, a server of workers, and the guest that runs code in one.

Standard library only, and nothing of `wieldy` outside this package: the interpreter may be another one, in an
environment of its own. There this package is imported as `inside`, which is why its modules name one another
relatively.
"""
