"""Rows of particles into lanes of a block and back, four at a time.

Kernels keep a block's numbers by component, 16 lanes each (``w[16 * c + i]``), while positions and forces lie
by particle. Turning one into the other number by number costs more instructions than the mechanics in
between. These functions move four particles' rows as vectors and transpose them in registers; they do the
same arithmetic in the same order as a plain loop, so the bytes are those of one. Rows that are written have
four columns, the last of them unused.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from pliant.core.typing import AnyArray, Array
from pliant.kernels.jit import jit

INSIDE = 0xFFFFFFFFFF  # offsets are masked by it: the compiler then sees that they are not negative
LINE = 64  # bytes of a cache line
ROW = 128  # bytes between the components of a lane

DOUBLE = ir.DoubleType()
PAIR = ir.VectorType(DOUBLE, 2)
FOUR = ir.VectorType(DOUBLE, 4)


def aligned(values: AnyArray) -> Array:
    """A copy of ``values`` as float64 that begins at a cache line: vectors of it never straddle two."""
    source = np.asarray(values, np.float64)
    room = np.empty(source.size + LINE // 8)
    first = -room.ctypes.data % LINE // 8
    own = room[first : first + source.size].reshape(source.shape)
    own[...] = source
    return own


def _mask(*lanes: int) -> Any:
    return ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), list(lanes))


def _offset(builder, pointer, count):
    return builder.gep(pointer, [ir.Constant(ir.IntType(64), count)]) if count else pointer


def _load(builder, pointer, kind, offset=0):
    place = builder.bitcast(_offset(builder, pointer, offset), kind.as_pointer())
    return builder.load(place, align=8)


def _store(builder, value, pointer, offset=0):
    place = builder.bitcast(_offset(builder, pointer, offset), value.type.as_pointer())
    builder.store(value, place, align=8)


def _rows(context, builder, signature, args):
    """Pointers to the rows args[1:5] of the array args[0]."""
    array = make_array(signature.args[0])(context, builder, args[0])
    stride = cgutils.unpack_tuple(builder, array.strides)[0]
    base = builder.bitcast(array.data, cgutils.voidptr_t)
    rows = [context.cast(builder, args[k], signature.args[k], types.int64) for k in range(1, 5)]
    return [builder.gep(base, [builder.mul(row, stride)]) for row in rows]


def _place(context, builder, signature, args, k):
    """Pointer to the number args[k + 1] of the flat array args[k]."""
    array = make_array(signature.args[k])(context, builder, args[k])
    at = context.cast(builder, args[k + 1], signature.args[k + 1], types.int64)
    return builder.bitcast(builder.gep(array.data, [at]), cgutils.voidptr_t)


def _columns(context, builder, signature, args):
    """The first three columns of the rows, a vector each."""
    rows = _rows(context, builder, signature, args)
    start = [_load(builder, row, PAIR) for row in rows]
    even = builder.shuffle_vector(start[0], start[2], _mask(0, 1, 2, 3))
    odd = builder.shuffle_vector(start[1], start[3], _mask(0, 1, 2, 3))
    last = ir.Constant(FOUR, ir.Undefined)
    for k, row in enumerate(rows):
        last = builder.insert_element(last, _load(builder, row, DOUBLE, 16), ir.Constant(ir.IntType(32), k))
    first = builder.shuffle_vector(even, odd, _mask(0, 4, 2, 6))
    return first, builder.shuffle_vector(even, odd, _mask(1, 5, 3, 7)), last


def _turned(builder, place):
    """Three components of four lanes as four rows."""
    x, y, z = (_load(builder, place, FOUR, ROW * c) for c in range(3))
    zero = ir.Constant(FOUR, [0.0] * 4)
    even, odd = _mask(0, 4, 2, 6), _mask(1, 5, 3, 7)
    low, high = _mask(0, 1, 4, 5), _mask(2, 3, 6, 7)
    a, b = builder.shuffle_vector(x, y, even), builder.shuffle_vector(x, y, odd)
    c, d = builder.shuffle_vector(z, zero, even), builder.shuffle_vector(z, zero, odd)
    return (
        builder.shuffle_vector(a, c, low),
        builder.shuffle_vector(b, d, low),
        builder.shuffle_vector(a, c, high),
        builder.shuffle_vector(b, d, high),
    )


@intrinsic
def _take(context, array, p, q, r, s, w, at):
    """``w[at + 16 c + i] = array[row_i, c]`` for the rows p, q, r, s."""

    def generate(context, builder, signature, args):
        place = _place(context, builder, signature, args, 5)
        for c, column in enumerate(_columns(context, builder, signature, args)):
            _store(builder, column, place, ROW * c)
        return context.get_dummy_value()

    return types.void(array, p, q, r, s, w, at), generate


@intrinsic
def _take_from(context, array, p, q, r, s, w, at, own, origin):
    """``w[at + 16 c + i] = array[row_i, c] - own[origin + 16 c + i]``."""

    def generate(context, builder, signature, args):
        place = _place(context, builder, signature, args, 5)
        from_ = _place(context, builder, signature, args, 7)
        columns = _columns(context, builder, signature, args)
        origins = [_load(builder, from_, FOUR, ROW * c) for c in range(3)]
        for c in range(3):
            _store(builder, builder.fsub(columns[c], origins[c]), place, ROW * c)
        return context.get_dummy_value()

    return types.void(array, p, q, r, s, w, at, own, origin), generate


def _writing(change: str | None) -> Any:
    @intrinsic
    def write(context, array, p, q, r, s, w, at):
        def generate(context, builder, signature, args):
            turned = _turned(builder, _place(context, builder, signature, args, 5))
            rows = _rows(context, builder, signature, args)
            for value, row in zip(turned, rows, strict=True):  # one after the other: they may be the same
                changed = getattr(builder, change)(_load(builder, row, FOUR), value) if change else value
                _store(builder, changed, row)
            return context.get_dummy_value()

        return types.void(array, p, q, r, s, w, at), generate

    return write


_put, _add, _subtract = _writing(None), _writing("fadd"), _writing("fsub")


@jit
def take(array, index, o, w, at):
    """Rows ``index[o : o + 16]`` of ``array`` into three rows of lanes from ``w[at]`` on."""
    o &= INSIDE
    at &= INSIDE
    for i in range(0, 16, 4):
        _take(array, index[o + i], index[o + i + 1], index[o + i + 2], index[o + i + 3], w, at + i)


@jit
def take_from(array, index, o, w, at, origin):
    """As ``take``, minus the lanes from ``w[origin]`` on."""
    o &= INSIDE
    at &= INSIDE
    origin &= INSIDE
    for i in range(0, 16, 4):
        _take_from(
            array, index[o + i], index[o + i + 1], index[o + i + 2], index[o + i + 3],
            w, at + i, w, origin + i,
        )  # fmt: skip


@jit
def take_run(array, row, w, at):
    """As ``take``, the sixteen rows from ``row`` on."""
    at &= INSIDE
    for i in range(0, 16, 4):
        _take(array, row + i, row + i + 1, row + i + 2, row + i + 3, w, at + i)


@jit
def put_run(array, row, w, at):
    """Three rows of lanes from ``w[at]`` on into the sixteen rows from ``row`` on."""
    at &= INSIDE
    for i in range(0, 16, 4):
        _put(array, row + i, row + i + 1, row + i + 2, row + i + 3, w, at + i)


@jit
def add(array, shift, index, o, w, at):
    """Add lanes to the rows ``index[o : o + 16] + shift``, one after the other."""
    o &= INSIDE
    at &= INSIDE
    for i in range(0, 16, 4):
        _add(
            array, index[o + i] + shift, index[o + i + 1] + shift,
            index[o + i + 2] + shift, index[o + i + 3] + shift, w, at + i,
        )  # fmt: skip


@jit
def subtract(array, shift, index, o, w, at):
    """As ``add``, with the other sign."""
    o &= INSIDE
    at &= INSIDE
    for i in range(0, 16, 4):
        _subtract(
            array, index[o + i] + shift, index[o + i + 1] + shift,
            index[o + i + 2] + shift, index[o + i + 3] + shift, w, at + i,
        )  # fmt: skip
