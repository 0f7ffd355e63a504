"""Cases live in modules of their own: a file named after its family enters them all."""

from importlib import import_module
from pathlib import Path


def load_members(prefix: str) -> None:
    """Import every module of this folder whose name begins with ``prefix``, in alphabetical order."""
    for path in sorted(Path(__file__).parent.glob(f"{prefix}*.py")):
        import_module(f"pliant.evidence.{path.stem}")
