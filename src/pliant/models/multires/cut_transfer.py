"""From a body with levels to the same body after a cut."""

import numpy as np

from pliant.core.typing import IntArray
from pliant.interfaces import Structure
from pliant.models.multires import level_change, level_kernels
from pliant.models.multires.arrangement import Arrangement, Prescribed
from pliant.models.multires.hierarchy import ANCHORS, Hierarchy
from pliant.models.multires.reduced_body import ReducedBody


def continued_after_cut(before: ReducedBody, structure: Structure, parents: IntArray) -> ReducedBody:
    """The body with another mesh, whose particles continue ``parents``; copies have their values. The cages
    are those around what is left; momentum stays, and energy does not rise."""
    new = ReducedBody(structure, before.material, before.model, before.diagnostics)
    if not before.begun:
        return new
    h, old, motion, mine, was = new.hierarchy, before.hierarchy, before.motion, new.motion, before.arrangement
    level_kernels.interpolate_all(was.own, old.corners, old.weights, motion.x, motion.v)
    source, balance = continued_nodes(old, h, parents), before.plain()
    flags = was.prescribed.flags[parents]
    h = new.hang_on_anchors(old.anchored[parents])
    for name in ("calm", "patience", "merged", "eta"):
        setattr(new.refinement, name, getattr(before.refinement, name)[source])
    now = new.arrangement = Arrangement(h, was.split[source], Prescribed(flags), before.beta)
    mine.x[:], mine.v[:], mine.led[:] = motion.x[source], motion.v[source], motion.led[source]
    mine.x[:ANCHORS] = h.points[:ANCHORS]
    known, own = level_change.set_of(was, old) | ~was.own, now.active
    level_change.fit_nodes(h, mine.x, own[~known[source[own]]])
    mine.p[own] = now.momenta_of(mine.v[own])
    whole = np.zeros(len(own), np.int64)  # particles that hang elsewhere now may have other velocities
    momenta = level_change.momenta_of_pieces(was, motion, np.zeros(len(was.active), np.int64))
    level_change.restore_momenta(now, mine, whole, momenta)
    level_kernels.interpolate_all(now.own, h.corners, h.weights, mine.x, mine.v)
    new.begun, new.dt, new.ticks, new.tick_count = True, before.dt, before.ticks, before.tick_count
    new.changes, new.denied, new.accounts = before.changes, before.denied, before.accounts
    new.contact.continue_after_cut(before.contact, parents)
    share = structure.mass / old.mass[parents]
    new.set_loads(before.external[parents] * share[:, None])
    new.evaluate()
    new.settle()
    rise = new.kinetic() + new.elastic - before.kinetic() - before.elastic
    if rise > 0.0:
        level_change.pay(now, mine, rise, 0.9, 0.0)
        level_kernels.interpolate_all(now.own, h.corners, h.weights, mine.x, mine.v)
        new.settle()
    new.scheme = before.scheme
    new.book_change(balance + new.load_potential())  # the ledger books that of loads as the cut's
    new.repay(0.9)
    new.accounts.owed = 0.0  # what is left is in the energy of the cut, which the ledger books
    level_kernels.interpolate_all(now.own, h.corners, h.weights, mine.x, mine.v)
    return new


def continued_nodes(old: Hierarchy, new: Hierarchy, parents: IntArray) -> IntArray:
    """The node (n,) of the hierarchy before a cut that each node continues: of particles ``parents``; of
    cages, the node at the same place that the continued finer nodes hang on, or else the nearest."""
    from scipy.spatial import cKDTree

    source = np.full(len(new.points), -1)
    source[:ANCHORS] = np.arange(ANCHORS)
    source[new.particles] = parents + old.particles.start
    for k in range(new.count - 1, 0, -1):
        rows = np.arange(new.first[k], new.first[k + 1])
        mine, theirs = new.nested_corners[rows], old.nested_corners[source[rows]]
        for a in range(4):
            for b in range(4):
                apart = np.abs(new.points[mine[:, a]] - old.points[theirs[:, b]]).max(axis=1)
                same = (apart < 1e-9 * new.edge) & (new.nested_weights[rows, a] != 0.0)
                source[mine[same, a]] = theirs[same, b]
        below = slice(int(new.first[k - 1]), int(new.first[k]))
        lost = np.flatnonzero(source[below] < 0) + below.start
        if len(lost):
            a, b = old.first[k - 1], old.first[k]
            source[lost] = a + np.asarray(cKDTree(old.points[a:b]).query(new.points[lost])[1], np.int64)
    return source
