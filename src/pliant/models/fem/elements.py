"""The elements of fem bodies: a rest state, and a law that is integrated over them."""

from abc import ABC, abstractmethod

import numpy as np
from scipy.sparse import bsr_array

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.interfaces import Structure
from pliant.kernels.element_blocks import WIDTH
from pliant.materials.constitutive.law import Law
from pliant.models.fem import energy_momentum, stiffness_product
from pliant.models.fem.law_blocks import law_loops, law_stresses, nodal_stress
from pliant.models.fem.nodal_pressure import NodalPressure
from pliant.models.fem.plasticity import Plasticity
from pliant.models.fem.reference import ReferenceTets
from pliant.models.flow_trial import FlowLosses
from pliant.models.tets.fields import crossing, edge_matrices, resultant
from pliant.models.tets.stiffness import assemble, gradients, stiffness_at


class TetElements(ABC):
    """Elements (m, k) on particles of a body, with their rest state and law.

    structure: its cells "tetra" span the elements' rest shapes. constants: those of the law. Fields are given
    per cell of the body; an element may consist of several.
    """

    def __init__(
        self, nodes: IntArray, structure: Structure, rest: ReferenceTets, law: Law, k: Array
    ) -> None:
        self.nodes, self.structure, self.rest, self.blocks = nodes, structure, rest, rest.blocks
        self.law, self.constants = law, k

    @abstractmethod
    def integrate(self, x: Array, forces: bool, energy: bool) -> float:
        """Forces into the buffers of the blocks, and the elastic energy [J], as asked for."""

    @abstractmethod
    def integrate_between(self, before: Array, after: Array) -> None:
        """Forces of an energy-momentum step from ``before`` to ``after`` (n, 3), into the buffers."""

    @abstractmethod
    def multiply(self, frame: int, x: Array, dx: Array) -> None:
        """Minus the product of the stiffness with ``dx`` (n, 3), into the buffers."""

    @abstractmethod
    def shape_gradients(self, inverse: Array) -> list[Array]:
        """Gradients of the shape functions (m, k, 3) [1/m] at each point of integration, from ``D_m^-1``."""

    def flow(self, plasticity: Plasticity, x: Array, dt: float, solved: bool) -> tuple[bool, FlowLosses]:
        """Let the elements flow over ``dt`` [s], inside an implicit solve if ``solved``; whether they did,
        and their losses."""
        return plasticity.step(x, self.blocks.index, dt, solved)

    def owner(self, cells: IntArray) -> IntArray:
        """The element that each of ``cells`` belongs to."""
        return cells

    def point(self, cells: IntArray) -> IntArray:
        """The point of integration of its element that each of ``cells`` is nearest to."""
        return np.zeros_like(cells)

    @abstractmethod
    def deformation(self, x: Array, cells: IntArray) -> Array:
        """Elastic deformation gradients of some cells (m, 3, 3): from the present rest shape."""

    def pressures(self, x: Array, which: IntArray) -> Array:
        """Averaged pressures of elements (m,) [Pa], zero without the remedy."""
        return np.zeros(len(which))

    def withheld(self) -> float:
        """The share of the bulk modulus that averaged pressures take over, 0 or 1."""
        return 0.0

    @property
    def cell_volumes(self) -> Array:
        """Rest volumes of the cells [m3]."""
        return self.rest.volumes

    def drop_volumetric_term(self) -> None:
        """Leave Lame's lambda out of isotropic elements."""
        self.rest.drop_lambda()

    def stiffness(self) -> Array:
        """Stiffness of each element at rest (m, 3k, 3k) [N/m]."""
        rest = self.rest
        parts = [
            stiffness_at(g, rest.weights, rest.stiffness) for g in self.shape_gradients(rest.first_inverse)
        ]
        return np.asarray(sum(parts))

    def rest_stiffness(self, particle_count: int) -> bsr_array:
        """The stiffness matrix at rest (3n, 3n) [N/m]."""
        return assemble(self.stiffness(), self.nodes, particle_count)

    def first_piola(self, F: Array, which: IntArray, pressure: Array, point: IntArray | int = 0) -> Array:
        """First Piola-Kirchhoff stresses [Pa] at elastic deformation gradients F (m, 3, 3) of the elements
        ``which``, with the plastic strain at a ``point`` of each; pressure (m,): averaged ones."""
        rest, withheld = self.rest, self.withheld()
        lam, mu = (constant[which] for constant in rest.lame)
        bulk = lam + 2.0 / 3.0 * mu
        stiffness = rest.stiffness[which][:, *np.triu_indices(6)] if rest.full else np.zeros((0, 21))
        out = np.empty((len(F), 9))
        law_stresses(self.law, rest.full)(
            *(np.ascontiguousarray(F.reshape(-1, 9)), mu, (1.0 - withheld) * bulk, withheld * bulk, pressure),
            *(stiffness, rest.plastic_strain_at(point, which), self.constants, out),
        )
        return out.reshape(-1, 3, 3)

    def section_force(self, x: Array, above: BoolArray) -> tuple[Array, float]:
        """The force of the elements across a section on the particles ``above``; see ``resultant``."""
        cut, side = crossing(self.nodes, above)
        nodes, pressure = x[self.nodes[cut]], self.pressures(x, cut)
        nodes, forces = nodes - nodes[:, :1], np.zeros_like(nodes)
        for q in range(self.rest.points):
            g = self.shape_gradients(self.rest.inverse_at(q, cut))[q]
            P = self.first_piola(np.einsum("mai,maj->mij", nodes, g), cut, pressure, q)
            forces -= np.einsum("m,mij,maj->mai", self.rest.weights[cut], P, g)
        return resultant(forces, side)


class LinearTets(TetElements):
    """Tets of constant strain; averaged: whether pressures are averaged around particles (``NodalPressure``),
    instead of being each tet's own."""

    def __init__(self, structure: Structure, rest: ReferenceTets, law: Law, k: Array, averaged: bool) -> None:
        super().__init__(structure.cells["tetra"], structure, rest, law, k)
        self.pressure: NodalPressure | None = None
        self._share, self._extra = 1.0, np.zeros((1, WIDTH))  # the share of the bulk modulus that tets keep
        self._lane_volumes: Array | None = None
        if averaged:
            lam, mu = rest.lame
            self.pressure = NodalPressure(self.blocks, rest.volumes, lam + 2.0 / 3.0 * mu, law)
            self._share, self._extra = 0.0, self.pressure.extra

    def drop_volumetric_term(self) -> None:
        super().drop_volumetric_term()
        self.pressure, self._share, self._extra = None, 1.0, np.zeros((1, WIDTH))

    def withheld(self) -> float:
        return 1.0 - self._share

    def integrate(self, x: Array, forces: bool, energy: bool) -> float:
        b, rows = self.blocks, self.rest.rows
        total: float = self.pressure.update(x, rows) if self.pressure else 0.0
        run = law_loops(self.law, self.rest.full)[b.parallel]
        total += run(
            *(b.starts, b.low, b.offset, b.index, rows, self._extra, self._share),
            *(self.constants, x, b.buffer, forces, energy),
        )
        return total

    def integrate_between(self, before: Array, after: Array) -> None:
        b, rows, extra = self.blocks, self.rest.rows, self._extra
        if self.pressure:
            self.pressure.update(before, rows)
            extra = 0.5 * self.pressure.extra
            self.pressure.update(after, rows)
            extra += 0.5 * self.pressure.extra
        run = energy_momentum.between_loops(self.law, self.rest.full)[b.parallel]
        run(
            *(b.starts, b.low, b.offset, b.index, rows, extra, self._share),
            *(self.constants, before, after, b.buffer),
        )

    def multiply(self, frame: int, x: Array, dx: Array) -> None:
        b = self.blocks
        run = stiffness_product.tet_stiffness_product[b.parallel]
        run(b.starts, b.low, b.offset, b.index, self.rest.rows, frame, x, dx, b.buffer)

    def nodal_stress(self, x: Array) -> Array:
        """Mean Cauchy stress around each particle, (n, 6) [Pa], xx, yy, zz, yz, xz, xy."""
        b, rows, out = self.blocks, self.rest.rows, np.empty((len(x), 6))
        if self.pressure:
            self.pressure.update(x, rows)
        if self._lane_volumes is None:
            self._lane_volumes = b.rows(self.rest.volumes)
        run = nodal_stress(self.law, self.rest.full)
        run(b.starts, b.index, rows, self._extra, self._share, self.constants, self._lane_volumes, x, out)
        return out

    def shape_gradients(self, inverse: Array) -> list[Array]:
        return [gradients(inverse)]

    def deformation(self, x: Array, cells: IntArray) -> Array:
        return np.asarray(edge_matrices(x, self.nodes[cells]) @ self.rest.inverse_at(0, cells))

    def pressures(self, x: Array, which: IntArray) -> Array:
        if self.pressure is None:
            return super().pressures(x, which)
        self.pressure.update(x, self.rest.rows)
        values: Array = self.rest.per_tet(self.pressure.extra) / self.rest.volumes
        return values[which]
