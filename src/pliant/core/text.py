"""Numbers in sentences."""


def counted(count: int, noun: str) -> str:
    """``1 hole``, ``2 holes``, ``0 vertices``."""
    if count != 1:
        noun = {"vertex": "vertices"}.get(noun, noun + "s")
    return f"{count} {noun}"
