"""A part of the matrix in which each two of body, motion, model and integrator occur together."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import combinations

from pliant.validation.matrix.cells import MatrixCell

ENOUGH = 2  # bodies for which a motion, model and integrator are refused: then they are for all

Pair = tuple[int, str, int, str]


def pairs(cell: MatrixCell) -> frozenset[Pair]:
    """The six pairs of a cell, each with the places of what it pairs."""
    kinds = enumerate((cell.body, cell.motion, cell.model, cell.integrator))
    return frozenset((i, one, j, other) for (i, one), (j, other) in combinations(kinds, 2))


def covering(cells: Sequence[MatrixCell], taken: Iterable[MatrixCell] = ()) -> list[MatrixCell]:
    """Cells which together with ``taken`` have every pair that occurs in ``cells``, by the greedy algorithm:
    again and again the cell with most pairs that are missing; of several, the first one of the integrator
    that was chosen least often."""
    missing = {pair for cell in cells for pair in pairs(cell)}
    for cell in taken:
        missing -= pairs(cell)
    left = {cell: pairs(cell) & missing for cell in cells}
    found: list[MatrixCell] = []
    used: Counter[str] = Counter()
    while missing:
        best = max(left, key=lambda cell: (len(left[cell]), -used[cell.integrator]))
        used[best.integrator] += 1
        found.append(best)
        new = left.pop(best)
        missing -= new
        left = {cell: rest for cell, own in left.items() if (rest := own - new)}
    return found


def applying(cells: Sequence[MatrixCell], refused: Collection[MatrixCell]) -> list[MatrixCell]:
    """``cells`` without those that were refused, and without motions of models with integrators that were
    refused for several bodies."""
    count = Counter((cell.motion, cell.model, cell.integrator) for cell in refused)
    known = set(refused)
    return [
        cell
        for cell in cells
        if cell not in known and count[cell.motion, cell.model, cell.integrator] < ENOUGH
    ]
