"""Shapes are closed, face outward, have their extent exactly and their volume as geometry says."""

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest
from pydantic import ValidationError

from pliant.core.errors import MeshError, ParameterError
from pliant.core.parameters import from_table, to_table
from pliant.core.typing import Array, IntArray
from pliant.mesh import shapes
from pliant.mesh.mesh import Surface, boundary_triangles, surface_volume, tet_volumes
from pliant.mesh.shapes.extrusions import triangulate

LATTICES = {"box-divided", "goblet"}
ALL: dict[str, Any] = {
    "box": shapes.box(2.0, 0.2, 0.3),
    "box-divided": shapes.box(2.0, 0.2, 0.3, divisions=(3, 2, 4)),
    "beam-with-hole": shapes.beam_with_hole(2.0, 0.2, 0.4),
    "beam-with-wide-hole": shapes.beam_with_hole(2.0, 0.2, 0.4, radius=0.18),
    "mattress": shapes.mattress(2.0, 1.0, 0.25),
    "mattress-upright": shapes.mattress(0.3, 2.0, 1.0),
    "support": shapes.support(1.0, 0.5, 1.5),
    "cylinder": shapes.cylinder(0.5, 2.0),
    "prism": shapes.prism(1.0, 2.0, 5),
    "prism-of-three": shapes.prism(1.0, 0.5, 3),
    "sphere": shapes.sphere(0.5),
    "icosphere": shapes.icosphere(0.5, 2),
    "torus": shapes.torus(1.0, 0.3),
    "gummy": shapes.gummy(1.0),
    "liver": shapes.liver(1.0),
    "necked-bar": shapes.necked_bar(2.0, 0.5, 0.4),
    "chocolate-bar": shapes.chocolate_bar(1.5, 0.6, 0.15),
    "goblet": shapes.goblet(1.0),
}
EDGES = {"default": None, "fine": 0.04, "coarse": 5.0}


def directed_edges(triangles: IntArray) -> IntArray:
    return triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)


def is_closed(surface: Surface) -> bool:
    """Each edge is used once in each direction."""
    n = len(surface.points)
    a, b = directed_edges(surface.triangles).T
    there, back = np.sort(a * n + b), np.sort(b * n + a)
    return bool(len(np.unique(there)) == len(there) and np.array_equal(there, back))


def euler_characteristic(surface: Surface) -> int:
    return len(surface.points) - len(surface.triangles) * 3 // 2 + len(surface.triangles)


def mean_ratio(surface: Surface) -> Array:
    """Triangle quality 4 sqrt(3) A / sum of squared sides, 1 if equilateral."""
    p = surface.points[surface.triangles]
    area = np.linalg.norm(np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), axis=1) / 2
    return np.asarray(4 * math.sqrt(3) * area / ((p - np.roll(p, 1, axis=1)) ** 2).sum(axis=(1, 2)))


@pytest.mark.parametrize("edge", EDGES.values(), ids=EDGES)
@pytest.mark.parametrize("name", ALL)
def test_surface_is_closed_connected_outward_and_of_the_right_genus(name: str, edge: float | None) -> None:
    surface = ALL[name].surface(edge)
    assert surface.points.dtype == np.float64
    assert surface.triangles.dtype == np.int64
    assert is_closed(surface)
    assert np.array_equal(np.unique(surface.triangles), np.arange(len(surface.points)))
    assert euler_characteristic(surface) == (
        0 if name in ("torus", "beam-with-hole", "beam-with-wide-hole", "goblet") else 2
    )
    assert surface_volume(surface.points, surface.triangles) > 0
    assert mean_ratio(surface).min() > 0.01


@pytest.mark.parametrize(
    "name", [n for n in ALL if not n.startswith(("box-", "icosphere", "beam-with-wide", "goblet"))]
)
def test_median_edge_is_near_the_one_asked_for(name: str) -> None:
    surface = ALL[name].surface(0.04)
    a, b = directed_edges(surface.triangles).T
    lengths = np.linalg.norm(surface.points[a] - surface.points[b], axis=1)
    assert np.median(lengths) == pytest.approx(0.04, rel=0.35)
    assert mean_ratio(surface).min() > 0.2


@pytest.mark.parametrize("edge", EDGES.values(), ids=EDGES)
@pytest.mark.parametrize("name", ["box", "beam-with-hole", "mattress", "mattress-upright", "support"])
def test_cornered_shapes_reach_exactly_from_zero_to_size(name: str, edge: float | None) -> None:
    points = ALL[name].surface(edge).points
    assert np.array_equal(points.min(axis=0), np.zeros(3))
    assert np.array_equal(points.max(axis=0), np.array(ALL[name].size))


@pytest.mark.parametrize("edge", EDGES.values(), ids=EDGES)
@pytest.mark.parametrize("name", ["cylinder", "prism", "gummy", "goblet"])
def test_standing_shapes_reach_exactly_from_zero_to_height(name: str, edge: float | None) -> None:
    z = ALL[name].surface(edge).points[:, 2]
    assert z.min() == 0.0
    assert z.max() == ALL[name].height


@pytest.mark.parametrize("scale", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("name", ALL)
def test_shapes_scale(name: str, scale: float) -> None:
    table = to_table(ALL[name])
    grown = {
        key: value if key in ("sides", "subdivisions", "divisions") else (np.array(value) * scale).tolist()
        for key, value in table.items()
    }
    surface, reference = from_table(type(ALL[name]), grown).surface(), ALL[name].surface()
    assert len(surface.triangles) == len(reference.triangles)
    assert np.allclose(surface.points, reference.points * scale, rtol=0, atol=1e-6 * scale)


def test_box_volume_is_the_product_of_its_sides() -> None:
    surface = shapes.box(2.0, 0.2, 0.3).surface(0.1)
    assert surface_volume(surface.points, surface.triangles) == pytest.approx(0.12, rel=1e-12)
    assert len(surface.triangles) == 2 * 2 * (20 * 2 + 20 * 3 + 2 * 3)


SPLITS: tuple[Literal["alternating", "uniform"], ...] = ("alternating", "uniform")


@pytest.mark.parametrize("split", SPLITS)
def test_divided_box_has_six_positive_tets_a_cell_that_fill_it(
    split: Literal["alternating", "uniform"],
) -> None:
    mesh = shapes.box(2.0, 0.2, 0.3, divisions=(3, 2, 4), split=split).volume()
    assert mesh is not None
    assert mesh.tets.shape == (6 * 3 * 2 * 4, 4)
    assert mesh.points.shape == (4 * 3 * 5, 3)
    volumes = tet_volumes(mesh.points, mesh.tets)
    assert volumes == pytest.approx(0.12 / len(mesh.tets), rel=1e-12)


def test_the_alternating_split_is_its_own_mirror_image() -> None:
    """Along axes with an even number of cells; the uniform one is not."""

    def shape(split: Literal["alternating", "uniform"], mirror: int) -> set[Any]:
        mesh = shapes.box(4.0, 2.0, 2.0, divisions=(4, 2, 2), split=split).volume()
        assert mesh is not None
        points = mesh.points.copy()
        if mirror >= 0:
            points[:, mirror] = points[:, mirror].max() - points[:, mirror]
        return {frozenset(map(tuple, corners)) for corners in points[mesh.tets].round(9).tolist()}

    for axis in range(3):
        assert shape("alternating", axis) == shape("alternating", -1)
        assert shape("uniform", axis) != shape("uniform", -1)


@pytest.mark.parametrize("split", SPLITS)
def test_divided_box_has_the_surface_of_its_tets(split: Literal["alternating", "uniform"]) -> None:
    box = shapes.box(2.0, 0.2, 0.3, divisions=(3, 2, 4), split=split)
    mesh, surface = box.volume(), box.surface()
    assert mesh is not None

    def faces(points: Array, triangles: IntArray) -> set[Any]:
        rows = points[triangles]
        first = np.lexsort(np.moveaxis(rows, -1, 0)[::-1], axis=-1)[
            :, 0
        ]  # rotate the least corner to the front
        return {
            tuple(map(tuple, np.roll(row, -k, axis=0))) for row, k in zip(rows.tolist(), first, strict=True)
        }

    assert faces(mesh.points, boundary_triangles(mesh.tets)) == faces(surface.points, surface.triangles)


def test_only_shapes_with_a_lattice_are_structured() -> None:
    structured = {name for name, shape in ALL.items() if shape.volume() is not None}
    assert structured == LATTICES


def test_beam_volume_lacks_the_polygon_of_its_hole() -> None:
    surface = shapes.beam_with_hole(2.0, 0.2, 0.4, radius=0.1).surface(0.05)
    hole = 24 / 2 * math.sin(2 * math.pi / 24) * 0.1**2
    assert surface_volume(surface.points, surface.triangles) == pytest.approx(
        0.2 * (2.0 * 0.4 - hole), rel=1e-12
    )


def test_hole_runs_along_y_through_the_middle() -> None:
    points = shapes.beam_with_hole(2.0, 0.2, 0.4, radius=0.1).surface(0.05).points
    distance = np.hypot(points[:, 0] - 1.0, points[:, 2] - 0.2)
    assert distance.min() == pytest.approx(0.1, rel=1e-12)
    on_hole = np.abs(distance - 0.1) < 1e-9
    assert points[on_hole, 1].min() == 0.0
    assert points[on_hole, 1].max() == 0.2


def test_support_volume_is_that_of_an_l() -> None:
    surface = shapes.support(1.0, 0.5, 1.5).surface()
    assert surface_volume(surface.points, surface.triangles) == pytest.approx(
        0.5 * 0.25 * (1.0 + 1.25), rel=1e-12
    )
    back = surface.points[surface.points[:, 0] == 0.0]
    assert back[:, 2].max() == 1.5  # the plate to be fixed
    shelf = surface.points[surface.points[:, 0] == 1.0]
    assert shelf[:, 2].max() == 0.25


@pytest.mark.parametrize("sides", [3, 4, 7, 30])
def test_prism_volume_is_exact(sides: int) -> None:
    surface = shapes.prism(1.0, 2.0, sides).surface()
    expected = sides / 2 * math.sin(2 * math.pi / sides) * 2.0
    assert surface_volume(surface.points, surface.triangles) == pytest.approx(expected, rel=1e-12)


def test_cylinder_points_lie_on_the_cylinder_and_its_volume_is_the_inscribed_prism() -> None:
    surface = shapes.cylinder(0.5, 2.0).surface(0.05)
    wall = (surface.points[:, 2] > 0) & (surface.points[:, 2] < 2.0)
    assert np.hypot(*surface.points[wall, :2].T) == pytest.approx(0.5, rel=1e-12)
    sides = math.ceil(2 * math.pi * 0.5 / 0.05)
    expected = sides / 2 * math.sin(2 * math.pi / sides) * 0.25 * 2.0
    assert surface_volume(surface.points, surface.triangles) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("shape", "exact"),
    [
        (shapes.sphere(0.5), 4 / 3 * math.pi * 0.5**3),
        (shapes.torus(1.0, 0.3), 2 * math.pi**2 * 1.0 * 0.3**2),
    ],
    ids=["sphere", "torus"],
)
def test_volume_of_round_shapes_converges_with_the_square_of_the_edge(
    shape: shapes.Shape, exact: float
) -> None:
    errors = []
    for edge in (0.08, 0.04, 0.02):
        surface = shape.surface(edge)
        errors.append(exact - surface_volume(surface.points, surface.triangles))
    rates = np.log2(np.array(errors[:-1]) / errors[1:])
    assert min(errors) > 0  # inscribed
    assert rates == pytest.approx(2.0, abs=0.15)


@pytest.mark.parametrize("subdivisions", [0, 1, 3])
def test_icosphere_has_twenty_times_a_power_of_four_triangles_on_the_sphere(subdivisions: int) -> None:
    surface = shapes.icosphere(0.7, subdivisions).surface()
    assert len(surface.triangles) == 20 * 4**subdivisions
    assert np.linalg.norm(surface.points, axis=1) == pytest.approx(0.7, rel=1e-12)
    if subdivisions == 0:
        side = 0.7 / math.sin(2 * math.pi / 5)
        exact = 5 * (3 + math.sqrt(5)) / 12 * side**3
        assert surface_volume(surface.points, surface.triangles) == pytest.approx(exact, rel=1e-12)


def test_torus_points_lie_on_the_torus() -> None:
    x, y, z = shapes.torus(1.0, 0.3).surface().points.T
    assert (np.hypot(x, y) - 1.0) ** 2 + z**2 == pytest.approx(0.09, rel=1e-12)


def test_mattress_is_a_little_less_than_its_box_and_drawn_in_at_the_tufts() -> None:
    surface = shapes.mattress(2.0, 1.0, 0.25).surface()
    volume = surface_volume(surface.points, surface.triangles)
    assert 0.85 * 0.5 < volume < 0.97 * 0.5
    top = surface.points[surface.points[:, 2] > 0.125]
    inner = top[(np.abs(top[:, 0] - 1.0) < 0.9) & (np.abs(top[:, 1] - 0.5) < 0.4)]
    assert inner[:, 2].min() == pytest.approx(0.25 - 0.12 * 0.25, rel=1e-9)


@pytest.mark.parametrize("edge", [None, 0.033, 0.05])
def test_gummy_is_smooth_mirrored_and_does_not_cut_itself(edge: float | None) -> None:
    surface = shapes.gummy(1.0).surface(edge)
    assert surface.points[:, 0].min() == pytest.approx(-surface.points[:, 0].max(), rel=1e-6)
    assert (surface.points[:, 2] == 0.0).sum() > 20  # flat soles
    assert surface.points[:, 1].min() == pytest.approx(-0.27, abs=0.02)  # nose and feet at -y
    assert mean_ratio(surface).min() > 0.3
    normals = np.cross(
        *np.moveaxis(np.diff(surface.points[surface.triangles], axis=1), 1, 0)
    )  # neighbouring triangles never fold back
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    pair = triangle_pairs(surface.triangles)
    assert np.einsum("ij,ij->i", normals[pair[:, 0]], normals[pair[:, 1]]).min() > 0
    assert crossings(surface) == 0


def triangle_pairs(triangles: IntArray) -> IntArray:
    """Triangles on both sides of each edge; shape (e, 2)."""
    edges = np.sort(directed_edges(triangles), axis=1)
    order = np.lexsort(edges.T)
    return (order // 3).reshape(-1, 2)


def crossings(surface: Surface) -> int:
    """How many edges pass through triangles they have no corner in common with."""
    from scipy.spatial import cKDTree

    p, t = surface.points, surface.triangles
    edges = np.unique(np.sort(directed_edges(t), axis=1), axis=0)
    centre = p[t].mean(axis=1)
    reach = np.linalg.norm(p[t] - centre[:, None], axis=2).max()
    middle = p[edges].mean(axis=1)
    half = np.linalg.norm(p[edges[:, 0]] - p[edges[:, 1]], axis=1).max() / 2
    near = cKDTree(middle).query_ball_tree(cKDTree(centre), reach + half)
    e = np.repeat(np.arange(len(edges)), [len(n) for n in near])
    f = np.array([k for n in near for k in n])
    apart = ~(edges[e][:, :, None] == t[f][:, None, :]).any(axis=(1, 2))
    start, way = p[edges[e[apart], 0]], p[edges[e[apart], 1]] - p[edges[e[apart], 0]]
    a, u, v = p[t[f[apart], 0]], p[t[f[apart], 1]] - p[t[f[apart], 0]], p[t[f[apart], 2]] - p[t[f[apart], 0]]
    matrix = np.stack([u, v, -way], axis=-1)
    det = np.linalg.det(matrix)
    solid = np.abs(det) > 1e-15
    s = np.linalg.solve(matrix[solid], (start - a)[solid][..., None])[..., 0]
    hit = (s[:, 0] >= 0) & (s[:, 1] >= 0) & (s[:, 0] + s[:, 1] <= 1) & (s[:, 2] >= 0) & (s[:, 2] <= 1)
    return int(hit.sum())


def test_the_crossing_test_can_fail() -> None:
    one = shapes.box(1.0, 1.0, 1.0).surface(0.5)
    other = Surface(one.points + 0.3, one.triangles)
    both = Surface(
        np.concatenate([one.points, other.points]),
        np.concatenate([one.triangles, other.triangles + len(one.points)]),
    )
    assert crossings(one) == 0
    assert crossings(both) > 0


def test_planar_triangles_keep_every_border_segment() -> None:
    angle = np.linspace(0, 2 * np.pi, 50, endpoint=False)
    radius = 1 + 0.3 * np.cos(5 * angle)
    loop = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points, triangles = triangulate([loop], 0.15)
    edges = {tuple(e) for e in directed_edges(triangles).tolist()}
    assert all((k, (k + 1) % 50) in edges for k in range(50))
    assert np.array_equal(points[:50], loop)


def test_table_has_the_names_of_scenes_and_constructors_match() -> None:
    assert set(shapes.SHAPES) == {to_kebab for to_kebab in ALL if to_kebab in shapes.SHAPES}
    for name, kind in shapes.SHAPES.items():
        assert type(ALL[name]) is kind
        assert isinstance(ALL[name], shapes.Shape)
        assert callable(getattr(shapes, name.replace("-", "_")))


def test_size_may_be_a_vector_an_array_or_have_units() -> None:
    expected = shapes.box(2.0, 0.2, 0.4)
    assert shapes.box([2.0, 0.2, 0.4]) == expected
    assert shapes.box(np.array([2.0, 0.2, 0.4])) == expected
    assert shapes.box("2 m", "20 cm", np.float64(0.4)) == expected
    assert from_table(shapes.SHAPES["box"], {"size": [2, "20 cm", 0.4]}) == expected


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: shapes.box(-1.0, 1.0, 1.0), "positive"),
        (lambda: shapes.box(0.0, 1.0, 1.0), "positive"),
        (lambda: shapes.box(math.nan, 1.0, 1.0), "finite"),
        (lambda: shapes.box(math.inf, 1.0, 1.0), "finite"),
        (lambda: shapes.box(1e200, 1.0, 1.0), "from 1e-09 m to"),
        (lambda: shapes.box(1.0, 1.0, 1.0, divisions=(0, 1, 1)), "at least one division"),
        (lambda: shapes.box(1.0, 1.0, 1.0, divisions=(1000, 1000, 1000)), "more than"),
        (lambda: shapes.box(1.0, 1.0, 1.0, divisions=(1, 1)), "divisions"),
        (lambda: shapes.box("3 kg", 1.0, 1.0), "3 kg"),
        (lambda: shapes.beam_with_hole(2.0, 0.2, 0.4, radius=0.2), "does not fit"),
        (lambda: shapes.support(1.0, 1.0, 1.0, thickness=1.0), "no L"),
        (lambda: shapes.cylinder(0.5, -2.0), "positive"),
        (lambda: shapes.prism(1.0, 1.0, 2), "sides"),
        (lambda: shapes.torus(0.3, 0.3), "smaller than major"),
        (lambda: shapes.icosphere(1.0, 20), "subdivisions"),
        (lambda: shapes.gummy(0.0), "positive"),
        (lambda: shapes.SHAPES["sphere"](radius=1.0, colour="red"), "colour: unknown key"),
    ],
)
def test_senseless_parameters_are_refused_with_a_reason(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make()


def test_tables_with_unknown_keys_are_refused() -> None:
    with pytest.raises(ValidationError, match="colour"):  # scene files tell it with its line
        from_table(shapes.SHAPES["sphere"], {"radius": 1.0, "colour": "red"})


@pytest.mark.parametrize("sides", [(1.0, 2.0), (1.0,), ([1.0, 2.0],), (1.0, 2.0, 3.0, 4.0), ()])
def test_a_size_has_three_lengths(sides: tuple[Any, ...]) -> None:
    with pytest.raises(MeshError, match="three lengths"):
        shapes.box(*sides)


@pytest.mark.parametrize("edge", [0.0, -1.0, math.nan, math.inf, 1e-9])
@pytest.mark.parametrize("name", [n for n in shapes.SHAPES if n != "icosphere"])
def test_senseless_edges_are_refused(name: str, edge: float | None) -> None:
    with pytest.raises(MeshError, match="edge"):
        ALL[name].surface(edge)


def test_a_bear_is_not_made_finer_than_its_grid_can_be() -> None:
    with pytest.raises(MeshError, match=r"0\.004 m or more"):
        shapes.gummy(1.0).surface(0.002)


@pytest.mark.parametrize(
    "shape", [shapes.cylinder(1e-6, 10.0), shapes.beam_with_hole(1e6, 1.0, 1e-3), shapes.torus(1e6, 1e-3)]
)
def test_too_slender_shapes_are_refused_instead_of_filling_memory(shape: shapes.Shape) -> None:
    with pytest.raises(MeshError, match="slender"):
        shape.surface(1e4)
