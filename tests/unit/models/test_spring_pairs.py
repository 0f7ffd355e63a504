"""Springs in pairs: every spring once, in pairs that meet, and hardly any alone."""

import numpy as np
import pytest

from pliant.mesh.mesh import tet_edges
from pliant.mesh.shapes import box
from pliant.models.springs.pairs import pair_springs


@pytest.mark.parametrize("divisions", [(1, 1, 1), (3, 2, 2), (5, 4, 3)])
def test_each_spring_is_in_one_pair_with_its_own_ends(divisions: tuple[int, int, int]) -> None:
    mesh = box(1.0, 1.0, 1.0, divisions=divisions).volume()
    assert mesh is not None
    edges = tet_edges(mesh.tets)
    nodes, springs = pair_springs(edges, len(mesh.points))
    used = springs[springs >= 0]
    assert np.array_equal(np.sort(used), np.arange(len(edges)))
    for column in (0, 1):
        there = springs[:, column] >= 0
        ends = np.sort(np.column_stack([nodes[there, 0], nodes[there, 1 + column]]), axis=1)
        assert np.array_equal(ends, edges[springs[there, column]])
    assert np.count_nonzero(springs < 0) == len(edges) % 2


def test_a_single_spring_is_paired_with_nothing() -> None:
    nodes, springs = pair_springs(np.array([[0, 1]]), 2)
    assert springs.tolist() == [[0, -1]]
    assert nodes[0, 2] == nodes[0, 0]


def test_springs_come_in_any_order() -> None:
    edges = np.array([[2, 3], [0, 1], [1, 2], [0, 3], [0, 2]])
    nodes, springs = pair_springs(edges, 4)
    assert np.array_equal(np.sort(springs[springs >= 0]), np.arange(5))
    for pair, members in zip(nodes, springs, strict=True):
        for end, spring in zip(pair[1:], members, strict=True):
            if spring >= 0:
                assert {int(pair[0]), int(end)} == set(edges[spring].tolist())
