"""Compiled loops over the particles of the World."""

# mypy: disable-error-code="no-untyped-def"

from pliant.core.typing import Array
from pliant.kernels.jit import parallel_jit, prange

PARALLEL_ROWS = 50_000  # below, one thread has copied before the others have woken up


@parallel_jit
def _copy_parallel(source, out):
    for i in prange(source.shape[0]):
        for c in range(3):
            out[i, c] = source[i, c]


def copy_rows(source: Array, out: Array) -> None:
    """``out = source``, (n, 3) arrays."""
    if source.shape[0] < PARALLEL_ROWS:
        out[:] = source
    else:
        _copy_parallel(source, out)
