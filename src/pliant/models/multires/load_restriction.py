"""What acts on particles, handed from level to level until it rests on simulated nodes."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.kernels.jit import jit
from pliant.models.multires.node_roles import ABSENT, ACTIVE


@jit
def _add(i, corners, weights, values, out, marks, room, n):
    """``out[corner_iq] += w_iq values_i``; the corners are listed in ``room``, which ends at the new n."""
    for q in range(4):
        j = corners[i, q]
        for c in range(3):
            out[j, c] += weights[i, q] * values[i, c]
        if not marks[j]:
            marks[j] = True
            room[n] = j
            n += 1
    return n


@jit
def restrict_to_active(first, links, standing, scale, rows, values, rounds, scratch):
    """``values`` (m, 3) at the finest nodes ``rows``, by transposed interpolation to and fro between levels:
    absent nodes hand to parent tets, replaced ones to child tets, active ones keep.

    links: parent and child tets of all nodes, with weights; scale (n,): what simulated nodes get is
    multiplied by it. Returns simulated nodes, with what they got, and what is still on its way after
    ``rounds``. scratch: three arrays (n, 3) of zeros, three (n,) of false, and room for three lists.
    """
    up, up_weights, down, down_weights = links
    values_by_node, flags, rooms = scratch
    here, later, kept = values_by_node[0], values_by_node[1], values_by_node[2]
    marks, later_marks, kept_marks = flags[0], flags[1], flags[2]
    room, later_room, nodes = rooms[0], rooms[1], rooms[2]
    levels = first.shape[0] - 1
    n = 0
    ends = first[:-1].copy()
    for e in range(rows.shape[0]):
        i = first[levels - 1] + rows[e]
        marks[i] = True
        room[first[levels - 1] + e] = i
        for c in range(3):
            here[i, c] = values[e, c]
    ends[levels - 1] += rows.shape[0]
    going = rows.shape[0] > 0
    turn = 0
    while going and turn < rounds:
        turn += 1
        going = False
        later_ends = first[:-1].copy()
        for k in range(levels - 1, -1, -1):
            room[first[k] : ends[k]].sort()
            for e in range(first[k], ends[k]):
                i = room[e]
                if standing[i] == ACTIVE:
                    if not kept_marks[i]:
                        kept_marks[i] = True
                        nodes[n] = i
                        n += 1
                    for c in range(3):
                        kept[i, c] += scale[i] * here[i, c]
                elif standing[i] == ABSENT:
                    ends[k - 1] = _add(i, up, up_weights, here, here, marks, room, ends[k - 1])
                else:
                    going = True
                    later_ends[k + 1] = _add(
                        i, down, down_weights, here, later, later_marks, later_room, later_ends[k + 1]
                    )
            for e in range(first[k], ends[k]):
                marks[room[e]] = False
                for c in range(3):
                    here[room[e], c] = 0.0
        here, later = later, here
        marks, later_marks = later_marks, marks
        room, later_room = later_room, room
        ends = later_ends
    left = np.zeros(3)
    for k in range(levels):
        for e in range(first[k], ends[k]):
            marks[room[e]] = False
            for c in range(3):
                left[c] += here[room[e], c]
                here[room[e], c] = 0.0
    amounts = np.empty((n, 3))
    for e in range(n):
        kept_marks[nodes[e]] = False
        for c in range(3):
            amounts[e, c] = kept[nodes[e], c]
            kept[nodes[e], c] = 0.0
    return nodes[:n].copy(), amounts, left
