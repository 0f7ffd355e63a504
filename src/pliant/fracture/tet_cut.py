"""What cuts from outside do to tets: cut them up, part them, or both."""

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.fracture.tet_subdivision import Subdivision, subdivide
from pliant.fracture.tet_topology import FACES, TetEdit, open_faces, shared_faces


def cut_through(tets: IntArray, level: Array) -> tuple[TetEdit, IntArray] | None:
    """Tets cut up where ``level`` (n,) is zero, and parted there; with the side (-1, 1) of each. None where
    all of them are on one side, or nothing separates."""
    edit, made = imprinted(tets, level)
    if (made.side == made.side[0]).all():
        return None
    after = parted(edit.tets, len(edit.parents), made.side, None)
    if after is not None:
        apart = after.parents[:, 0]
        edit = TetEdit(after.tets, edit.parents[apart], edit.weights[apart], edit.origin)
    elif not len(made.ends):
        return None
    return edit, made.side


def imprinted(tets: IntArray, level: Array) -> tuple[TetEdit, Subdivision]:
    """Tets cut up where ``level`` (n,) is zero, and nothing parted."""
    made, count = subdivide(tets, level), len(level)
    parents = np.repeat(np.arange(count + len(made.ends))[:, None], 2, axis=1)
    weights = np.zeros(parents.shape)
    weights[:, 0] = 1.0
    near = np.where(made.share <= 0.5, 0, 1)  # the nearer end is the main parent
    rows = np.arange(len(made.ends))
    parents[count:, 0], parents[count:, 1] = made.ends[rows, near], made.ends[rows, 1 - near]
    share = np.minimum(made.share, 1.0 - made.share)
    weights[count:, 0], weights[count:, 1] = 1.0 - share, share
    return TetEdit(made.tets, parents, weights, made.origin), made


def parted(
    tets: IntArray, count: int, sides: IntArray | None, where: BoolArray | None = None
) -> TetEdit | None:
    """Neighbouring tets of different ``sides`` (m,) parted; only across faces of particles ``where``."""
    joints = shared_faces(tets)
    if sides is not None:
        joints = joints[sides[joints[:, 0] // 4] != sides[joints[:, 1] // 4]]
    if where is not None:
        on = tets[joints[:, 0] // 4][np.arange(len(joints))[:, None], FACES[joints[:, 0] % 4]]
        joints = joints[where[on].all(axis=1)]
    return open_faces(tets, count, joints) if len(joints) else None
