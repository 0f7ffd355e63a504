"""A small run to draw, and a way to draw it that skips where nothing can be drawn."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.actions.obstacles import SphereShape
from pliant.core.errors import MissingExtra
from pliant.mesh.shapes import box
from pliant.render import render_run
from pliant.run.store import Run

Draw = Callable[..., Any]


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A soft block falls on the ground beside a table, past a ball that moves: eleven frames."""
    block = pl.Body(
        box(0.4, 0.2, 0.2, divisions=(4, 2, 2)),
        name="block",
        material={"young": 2e4, "poisson": 0.3, "density": 500.0},
        position=(0.0, 0.0, 0.15),
    )
    keys = {"keys": [{"time": 0.0, "value": [0.2, 0.1, 0.7]}, {"time": 0.2, "value": [0.6, 0.1, 0.7]}]}
    scene = pl.Scene(
        [block],
        [
            pl.Gravity(),
            pl.Ground(),
            pl.Tabletop(height=0.1, size=(0.2, 0.3), centre=(-0.3, 0.1), thickness=0.05),
            pl.Obstacle(sphere=SphereShape(radius=0.08), position=keys),
        ],
        [pl.Probe(select=pl.where.all(), name="middle")],
        title="A block falls",
        time=pl.TimeSettings(duration=0.2, fps=50),
    )
    return scene.run(to=tmp_path_factory.mktemp("drawn") / "block.pliant")


@pytest.fixture(scope="session")
def drawable(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A first picture by a child process; skips where the extra or the graphics are missing."""
    try:
        return run.render(tmp_path_factory.mktemp("first") / "first.png", frame=5, size="192x128")
    except MissingExtra as error:
        if os.environ.get("PLIANT_REQUIRE_GRAPHICS"):
            raise
        pytest.skip(str(error))


@pytest.fixture
def draw(drawable: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Draw:
    """Draw a small picture in this process, which is quicker; gives it as an array (h, w, 3)."""
    from PIL import Image

    def here(plan: Any, shots: Sequence[Any], workers: int | None, team: Any) -> Iterator[Any]:
        from pliant.render.pyvista_scene import PyvistaScene

        stage = PyvistaScene(plan)
        try:
            yield from map(stage.picture, shots)
        finally:
            stage.close()

    monkeypatch.setattr(render_run, "pictures", here)

    def picture(runs: Any = run, **options: Any) -> Any:
        chosen: dict[str, Any] = {"size": "192x128", "frame": 5, "force": True} | options
        with Image.open(render_run.render(runs, tmp_path / "drawn.png", **chosen)) as image:
            return np.asarray(image).astype(float)

    return picture
