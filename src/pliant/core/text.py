"""Numbers in sentences: counts, spans of time, sizes of files."""


def counted(count: int, noun: str) -> str:
    """``1 hole``, ``2 holes``, ``0 vertices``."""
    if count != 1:
        noun = {"vertex": "vertices"}.get(noun, noun + "s")
    return f"{count} {noun}"


def seconds(value: float) -> str:
    """A span of time for people."""
    if value < 0.1:
        return f"{value * 1e3:.3g} ms"
    if value < 120:
        return f"{value:.3g} s"
    return f"{value / 60:.0f} min" if value < 7200 else f"{value / 3600:.1f} h"


def size(count: float) -> str:
    """A number of bytes for people."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"
