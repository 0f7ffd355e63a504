"""Graphs of series."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pliant.core.errors import InputError, RunError
from pliant.render import plot
from pliant.run.series_units import units_of
from pliant.run.store import Run

pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'pliant[render]'")


def curves(figure: Any) -> dict[str, tuple[Any, Any]]:
    return {line.get_label(): line.get_data() for axes in figure.axes for line in axes.lines}


def test_curves_are_the_series(run: Run) -> None:
    figure = plot(run, ["energy", "volume"])
    top, bottom = figure.axes
    assert (top.get_ylabel(), bottom.get_ylabel()) == ("energy [J]", "volume [m³]")
    assert bottom.get_xlabel() == "time [s]"
    found = curves(figure)
    for name in ("energy.kinetic", "energy.total"):
        np.testing.assert_array_equal(found[name], (run.times, run.series[name]))


def test_one_series_against_another_of_several_runs(run: Run) -> None:
    figure = plot([run, run], "energy.kinetic", x="middle.z", labels=["soft", "stiff"])
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("middle.z [m]", "energy.kinetic [J]")
    found = curves(figure)
    assert list(found) == ["soft", "stiff"]
    np.testing.assert_array_equal(found["stiff"], (run.series["middle.z"], run.series["energy.kinetic"]))


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")])
@pytest.mark.parametrize("slide", [False, True])
def test_files_are_of_their_kind_and_the_same_every_time(
    run: Run, tmp_path: Path, suffix: str, start: bytes, slide: bool
) -> None:
    path = run.plot(["middle.z"], tmp_path / f"z{suffix}", slide=slide, title="It falls")
    data = path.read_bytes()
    assert data.startswith(start)
    assert run.plot(["middle.z"], path, slide=slide, title="It falls", force=True).read_bytes() == data
    with pytest.raises(InputError, match="--force"):
        run.plot(["middle.z"], path)


def test_a_picture_of_a_graph_has_the_size_asked_for(run: Run, tmp_path: Path) -> None:
    from PIL import Image

    path = plot(run, "volume", tmp_path / "v.png", size="127x76")
    with Image.open(path) as image:
        assert image.size == (1000, 598)
        assert np.asarray(image.convert("L")).std() > 10


def test_units_come_from_the_scene(run: Run) -> None:
    units = units_of(run)
    assert units["middle.x"] == "m"
    assert units["ground.x"] == "N"
    assert units["ground.torque.x"] == "N m"
    assert units["time"] == "s"
    assert set(units) == set(run.series)


def test_mistakes_are_told(run: Run, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no series 'volum'; did you mean 'volume'"):
        plot(run, "volum", tmp_path / "a.png")
    with pytest.raises(InputError, match=r"did you mean '\.svg'"):
        plot(run, "volume", tmp_path / "a.svgz")
    with pytest.raises(InputError, match="1 labels for 2 runs"):
        plot([run, run], "volume", tmp_path / "a.png", labels=["one"])
    assert not list(tmp_path.iterdir())
