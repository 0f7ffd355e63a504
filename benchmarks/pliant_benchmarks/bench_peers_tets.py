"""Other engines that take tets as they are: the cantilever of ``bench_peers`` on our very mesh.

Rapier's soft bodies (corotational tets, implicit) and Newton's vertex block descent (neo-Hookean tets), on
one thread, without damping and without contacts.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.core.errors import MissingExtra
from pliant.core.typing import Array
from pliant.mesh.mesh import TetMesh
from pliant.mesh.shapes import box
from pliant_benchmarks.bench import BenchResult, bench
from pliant_benchmarks.bench_cantilever import MATERIAL
from pliant_benchmarks.bench_peers import CELLS, END, SIZE, STEPS, beside, need_peer

YOUNG, POISSON, DENSITY = MATERIAL["young"], MATERIAL["poisson"], MATERIAL["density"]
SWEEPS = 10  # of Newton's solver in a step


def beam() -> TetMesh:
    """The beam of all peers as tets, six to a cell."""
    mesh = box(*SIZE, divisions=CELLS).volume()
    assert mesh is not None
    return mesh


def masses(mesh: TetMesh) -> Array:
    """A quarter of the mass of its tets for every point [kg]."""
    p = mesh.points[mesh.tets]
    volume = np.linalg.det(p[:, 1:] - p[:, :1]) / 6.0
    found = np.zeros(len(mesh.points))
    np.add.at(found, mesh.tets.ravel(), np.repeat(0.25 * DENSITY * volume, 4))
    return found


def timed(step: Callable[[], object], count: int) -> float:
    """CPU time [s] of ``count`` steps."""
    start = time.process_time()
    for _ in range(count):
        step()
    return time.process_time() - start


def fallen(mesh: TetMesh, places: Any) -> float:
    """How far the tip is below its rest place [m]."""
    tip = mesh.points[:, 0] > SIZE[0] - 1e-9
    return float((mesh.points - np.asarray(places))[tip, 2].mean())


def rapier_fall(step: float) -> tuple[float, float]:
    """Rapier's soft bodies with the FEM solver, one solver iteration a step (single precision)."""
    import rapier3d  # type: ignore[import-not-found]

    mesh = beam()
    held = np.flatnonzero(mesh.points[:, 0] < 1e-9)
    material = rapier3d.SoftBodyMaterial(young_modulus=YOUNG, poisson_ratio=POISSON)
    material.elastic_damping_ratio = material.deformation_damping = 0.0
    body = rapier3d.SoftBodyBuilder(mesh.points).cells(mesh.tets.tolist()).masses(masses(mesh).tolist())
    body = body.pinned_particles(held.tolist()).material(material).no_surface_collider().can_sleep(False)
    body = body.cell_model(rapier3d.SoftBodyCellModel.COROTATIONAL).solver(rapier3d.SoftBodySolver.FEM)
    world = rapier3d.PhysicsWorld(gravity=(0.0, 0.0, -10.0))
    world.integration_parameters.dt = step
    world.integration_parameters.num_solver_iterations = 1
    world.set_num_threads(1)
    handle = world.add_soft_body(body)
    seconds = timed(world.step, round(END / step))
    return fallen(mesh, world.soft_bodies[handle].particle_positions), seconds


@bench("peers/rapier")
def rapier() -> list[BenchResult]:
    """Rapier's soft bodies (pip install rapier3d, 0.36 or later)."""
    if not hasattr(need_peer("rapier3d"), "SoftBodyBuilder"):
        raise MissingExtra("rapier3d before 0.36 has no soft bodies.", hint="pip install -U rapier3d")
    return beside("peers/rapier", rapier_fall)


def newton_fall(step: float) -> tuple[float, float]:
    """Newton's vertex block descent on the processor, SWEEPS a step (single precision)."""
    import newton  # type: ignore[import-not-found]
    import warp  # type: ignore[import-not-found]

    mesh = beam()
    builder = newton.ModelBuilder(gravity=(0.0, 0.0, -10.0))
    mu = YOUNG / (2.0 * (1.0 + POISSON))
    place = {"pos": (0.0, 0.0, 0.0), "rot": warp.quat_identity(), "vel": (0.0, 0.0, 0.0), "scale": 1.0}
    builder.add_soft_mesh(
        **place, vertices=[warp.vec3(*p) for p in mesh.points.tolist()], indices=mesh.tets.ravel().tolist(),
        density=DENSITY, k_mu=mu, k_lambda=2.0 * mu * POISSON / (1.0 - 2.0 * POISSON), k_damp=0.0,
        add_surface_mesh_edges=False,
    )  # fmt: skip
    for held in np.flatnonzero(mesh.points[:, 0] < 1e-9).tolist():
        builder.particle_mass[held] = 0.0
    builder.color()
    model = builder.finalize(device="cpu")
    solver = newton.solvers.SolverVBD(
        model, iterations=SWEEPS, particle_enable_self_contact=False, particle_enable_tile_solve=False
    )
    states, control = [model.state(), model.state()], model.control()
    solver.step(*states, control, None, 1e-9)  # compiles
    states[:] = model.state(), model.state()

    def advance() -> None:
        states[0].clear_forces()
        solver.step(*states, control, None, step)
        states.reverse()

    seconds = timed(advance, round(END / step))
    return fallen(mesh, states[0].particle_q.numpy()), seconds


@bench("peers/newton-vbd")
def newton() -> list[BenchResult]:
    """Newton's vertex block descent (pip install newton)."""
    warp = need_peer("newton", "warp")
    warp.config.log_level = warp.LOG_WARNING  # the output is for figures; newton starts it
    need_peer("newton")
    return beside("peers/newton-vbd", newton_fall, STEPS[1:])
