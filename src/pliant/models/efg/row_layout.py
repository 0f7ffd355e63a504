"""What the rows of the compiled passes hold, and how matrices are read from them and put there."""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from pliant.kernels.jit import inlined

PARTS = 64
PARALLEL_PAIRS = 40_000
# columns of solid: A^-1 (6), constants times volume, hourglass k, volume, flat (0 or 1), projector (6),
INVERSE, V_MU, V_LAMBDA, V_KV, K, VOLUME, FLAT, PROJECTOR = 0, 6, 7, 8, 9, 10, 11, 12
REST, LEVER, WEIGHT, K_AROUND, COLUMNS = 18, 21, 24, 25, 26  # X (3), sums over pairs: y (3), w, w k_j
ELASTIC, SMALL, LARGE = 0, 1, 2  # kinds of plastic flow
UNIT = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)
NONE = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@inlined
def take(a, i, k):
    """Nine numbers of a row as a matrix."""
    return (
        a[i, k], a[i, k + 1], a[i, k + 2], a[i, k + 3], a[i, k + 4], a[i, k + 5], a[i, k + 6], a[i, k + 7],
        a[i, k + 8],
    )  # fmt: skip


@inlined
def take_six(a, i, k):
    return a[i, k], a[i, k + 1], a[i, k + 2], a[i, k + 3], a[i, k + 4], a[i, k + 5]


@inlined
def put(a, i, k, m):
    a[i, k], a[i, k + 1], a[i, k + 2], a[i, k + 3], a[i, k + 4] = m[0], m[1], m[2], m[3], m[4]
    a[i, k + 5], a[i, k + 6], a[i, k + 7], a[i, k + 8] = m[5], m[6], m[7], m[8]


@inlined
def plus_unit(h):
    return h[0] + 1.0, h[1], h[2], h[3], h[4] + 1.0, h[5], h[6], h[7], h[8] + 1.0


@inlined
def contract(a, b):
    return (
        a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5] + a[6] * b[6]
        + a[7] * b[7] + a[8] * b[8]
    )  # fmt: skip
