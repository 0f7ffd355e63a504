"""Springs in pairs that meet in a particle: three particles are gathered for two springs, not four."""

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.kernels.element_blocks import ElementBlocks


def pair_springs(edges: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """Pairs (m, 3): the particle where two springs meet and their other ends; springs (m, 2): which ones.

    Each spring belongs to its lower particle; in ascending order, a particle with an odd number passes
    one on to the other end. So at most the last particle of a connected body keeps a single spring: its pair
    has -1 as second spring, and the particle itself as its end.
    """
    number = np.bincount(edges[:, 0], minlength=count)
    by_lower = np.append(np.argsort(edges[:, 0], kind="stable"), 0)
    first = by_lower[np.cumsum(number) - number].tolist()
    far, has, held = edges[:, 1].tolist(), (number > 0).tolist(), number.tolist()
    passed = []
    for p in range(count):
        if held[p] % 2 and has[p]:
            passed.append(first[p])
            held[far[first[p]]] += 1
    meeting, end = edges[:, 0].copy(), edges[:, 1].copy()
    meeting[passed], end[passed] = edges[passed, 1], edges[passed, 0]
    order = np.lexsort((end, meeting))
    sorted_meeting = meeting[order]
    run = np.searchsorted(sorted_meeting, sorted_meeting)
    heads = np.flatnonzero((np.arange(len(edges)) - run) % 2 == 0)
    seconds = np.minimum(heads + 1, len(edges) - 1)
    single = (seconds == heads) | (sorted_meeting[seconds] != sorted_meeting[heads])
    springs = np.column_stack([order[heads], np.where(single, -1, order[seconds])])
    ends = np.where(springs >= 0, end[springs], sorted_meeting[heads][:, None])
    return np.column_stack([sorted_meeting[heads], ends]), springs


def pair_rows(blocks: ElementBlocks, springs: IntArray, *columns: Array) -> Array:
    """Rows of ``blocks``: each column of the first springs, then of the second ones; zero for none."""
    there = springs[:, 1] >= 0
    both = ((c[springs[:, 0]], c[springs[:, 1]] * there) for c in columns)
    return blocks.rows(*(half for halves in both for half in halves))
