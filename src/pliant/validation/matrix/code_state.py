"""Which code a result was made with."""

import hashlib
from functools import cache
from pathlib import Path

import pliant


@cache
def code_state() -> str:
    """The version, and eight digits of the SHA-256 of all sources of the package, as they are on disk when
    first asked."""
    root = Path(pliant.__file__).parent
    found = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        found.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return f"{pliant.__version__}+{found.hexdigest()[:8]}"
