"""Scenes written as text and read again are the same scenes."""

import numpy as np
import pytest
from scene_texts import BODY

import pliant as pl
from pliant import examples
from pliant.actions.obstacles import CapsuleShape
from pliant.mesh.mesh import Surface
from pliant.scene.load import parse
from pliant.scene.scene import RecordSettings, TimeSettings
from pliant.scene.to_toml import IN_MEMORY, to_toml, toml_value


@pytest.mark.parametrize("name", examples.names())
def test_every_example_survives(name: str) -> None:
    scene = parse(examples.text(name))
    assert parse(to_toml(scene)) == scene


def python_scene() -> pl.Scene:
    """A scene made in Python that uses what is easy to get wrong."""
    beam = pl.Body(
        pl.shapes.box(2.0, 0.2, 0.2, divisions=[4, 2, 2]),
        edge=0.1 + 0.2,
        material={"preset": "rubber", "young": "2 MPa", "plastic-max": 0.1, "yield": "1 MPa"},
        rotation=pl.Rotation(axis=[1, 2, 3], degrees=30),
        spin=(2.5, 0, 1e-300),
    )
    other = pl.Body(
        mesh='odd "name"\\ ü.obj', model={"type": "mass-spring", "stiffness": 1 / 3}, surface="boundary"
    )
    keys = {"keys": [{"time": 0, "value": 1 / 7}, {"time": "100 ms", "value": 2}], "ease": "smooth"}
    return pl.Scene(
        [beam, other],
        [
            pl.Gravity(acceleration=keys, from_=0.1, until=1 / 3),
            pl.Fix(beam, pl.where.plane("x", "min"), axes=("x", "z")),
            pl.Move(pl.where.ids(range(5)), velocity=[1, 2, 3]),
            pl.Rotate(beam, pl.where.plane("x", "max"), axis=[1, 1, 1], speed="90 deg/s", centre=(0, 0, 0)),
            pl.Obstacle(capsule=CapsuleShape(radius=1, length=2, axis="y"), name="stick"),
            pl.Damping(factor=0.99),
            pl.VolumeConstraint(beam, per="node"),
        ],
        [pl.Probe(select=pl.where.nearest([0, 0, 0], 3), name="tip", every="step")],
        title='quotes " and \\ and \t tabs, ünïcode, \x7f',
        up="y",
        time=TimeSettings(duration=1 / 3, fps=24, step=1e-4, integrator="verlet"),
        record=RecordSettings(velocities=True),
    )


def test_a_scene_made_in_python_survives_bit_for_bit() -> None:
    scene = python_scene()
    again = parse(to_toml(scene), meshes=False)
    assert again == scene
    assert to_toml(again) == to_toml(scene)
    assert again.actions[3].axis == scene.actions[3].axis  # type: ignore[attr-defined]


def test_shorthand_keys_and_defaults_come_out_in_one_form() -> None:
    text = BODY + '[[actions]]\ntype = "gravity"\nkeys = [{ time = 0, value = 1 }, { time = 1, value = 2 }]\n'
    written = to_toml(parse(text))
    assert "acceleration = { keys = [{ time = 0.0, value = 1.0 }, { time = 1.0, value = 2.0 }] }" in written
    assert 'material = "rubber"' in written
    assert 'model = "mass-spring"' in written
    assert "ease" not in written


def test_mesh_paths_stay_relative_unless_asked(tmp_path: object) -> None:
    text = 'schema = 1\n[[bodies]]\nmesh = "parts/one.obj"\n'
    scene = parse(text, str(tmp_path), meshes=False)
    assert 'mesh = "parts/one.obj"' in to_toml(scene)
    assert f'mesh = "{tmp_path}/parts/one.obj"' in to_toml(scene, absolute=True)


def test_a_mesh_in_memory_keeps_its_place() -> None:
    surface = Surface(np.eye(3), np.array([[0, 1, 2]]))
    text = to_toml(pl.Scene([pl.Body(surface, name="made")]))
    assert f'mesh = "{IN_MEMORY}"' in text
    assert parse(text, meshes=False).bodies[0].name == "made"


def test_what_has_no_toml_form_is_refused() -> None:
    with pytest.raises(TypeError, match="object has no place in a scene file"):
        toml_value(object())
