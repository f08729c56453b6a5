"""`wieldy lint`: not assembled yet."""


def lint() -> None:
    """Check tools."""
