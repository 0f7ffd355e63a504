"""Compiled lists of nodes against what they mean, node by node."""

import numpy as np
import pytest

from multires_lab import bar
from pliant.models.multires.schwarz import Schwarz


@pytest.fixture(scope="module")
def mechanics():
    return bar(levels=3)


@pytest.mark.parametrize("seed", range(4))
def test_nodes_stand_as_the_flags_say_and_ghosts_are_what_others_read(mechanics, seed: int) -> None:
    h, some = mechanics.hierarchy, np.random.default_rng(seed)
    coupling = Schwarz(h, mechanics.motion, 0.0, False)
    for _ in range(2):  # the second time from other lists than none
        split = [some.random(level.count) < 0.1 for level in h.levels]
        split[-1][:] = False
        split = mechanics.refinement.grade(split)
        coupling.set_active(split)
    there = [np.ones(h.levels[0].count, bool)]
    there += [split[k][transfer.parent_node] for k, transfer in enumerate(h.transfers)]
    needed = [set[int]() for _ in h.levels]
    for k in range(len(h.levels) - 1, -1, -1):
        level = h.levels[k]
        assert set(coupling.active[k]) == set(np.flatnonzero(there[k] & ~split[k]))
        assert set(coupling.replaced[k]) == set(np.flatnonzero(there[k] & split[k]))
        np.testing.assert_array_equal(coupling.constrained[k], ~there[k])
        if k == 0:
            continue
        transfer = h.transfers[k - 1]
        for i in coupling.active[k]:
            needed[k].update(level.columns[level.first[i] : level.first[i + 1]])
        for i in np.flatnonzero(there[k - 1] & split[k - 1]):
            needed[k].update(
                transfer.restriction.columns[
                    transfer.restriction.first[i] : transfer.restriction.first[i + 1]
                ]
            )
        ghosts = sorted(i for i in needed[k] if not there[k][i])
        assert list(coupling.ghosts[k]) == ghosts
        for i in ghosts:
            needed[k - 1].update(
                transfer.prolongation.columns[
                    transfer.prolongation.first[i] : transfer.prolongation.first[i + 1]
                ]
            )
    total = sum(mass[nodes].sum() for mass, nodes in zip(coupling.mass, coupling.active, strict=True))
    assert total == pytest.approx(mechanics.structure.mass.sum(), rel=1e-12)
