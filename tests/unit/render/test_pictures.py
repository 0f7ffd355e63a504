"""Pictures and movies: what is to be seen is there, and movies move."""

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pliant.core.errors import InputError, MissingExtra
from pliant.render import render
from pliant.render.worker_pool import DrawingTeam
from pliant.run.store import Run

APPROVED = Path(__file__).parent / "approved"
BODY = np.array([231, 111, 81]) / 255.0  # of the first body


def opened(path: Path) -> Any:
    from PIL import Image

    with Image.open(path) as image:
        return np.asarray(image.convert("RGB")).astype(float)


def of_the_body(image: Any) -> Any:
    """Pixels whose hue is the first body's."""
    total = np.maximum(image.sum(axis=2, keepdims=True), 1.0)
    return np.abs(image / total - BODY / BODY.sum()).max(axis=2) < 0.05


def near_approved(image: Any, name: str) -> None:
    """Within tolerance of an approved picture: graphics libraries differ in a few pixels along edges."""
    path = APPROVED / f"{name}.png"
    if not path.exists():
        from PIL import Image

        Image.fromarray(image.astype(np.uint8)).save(path)
        pytest.fail(f"{path} was not there; it is now: look at it, and commit it if it is right.")
    difference = np.abs(image - opened(path))
    assert difference.mean() < 4.0
    assert (difference.max(axis=2) > 60).mean() < 0.03


def test_a_child_process_draws_a_body_on_the_ground(drawable: Path) -> None:
    image = opened(drawable)
    assert image.shape == (128, 192, 3)
    assert 0.04 < of_the_body(image).mean() < 0.4
    near_approved(image, "surface")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("displacement", {"colour": "displacement", "range": "0:0.1", "view": "front"}),
        ("tets", {"style": "tets", "view": "side"}),
        ("edges", {"style": "edges", "background": "white", "shadow": False}),
        ("wireframe", {"style": "wireframe", "background": "dark", "title": "Wires"}),
        ("particles", {"style": "particles", "view": "top"}),
        ("surfels", {"style": "surfels", "colour": "displacement", "range": "0:0.1"}),
        ("cracks", {"style": "cracks"}),
        ("section", {"section": "y=0.1", "colour": "displacement.z", "ground": "none"}),
    ],
)
def test_styles_look_as_approved(draw: Any, name: str, options: dict[str, Any]) -> None:
    image = draw(**options)
    assert image.std() > 5.0
    near_approved(image, name)


def test_what_is_chosen_is_what_is_seen(draw: Any) -> None:
    plain = draw(title="", time=False)
    assert np.array_equal(plain, draw(title="", time=False))
    for options in (
        {"title": "Something"}, {"time": True}, {"frame": 9}, {"view": "top"}, {"zoom": 1.5},
        {"shadow": False}, {"ground": "none"}, {"ground": -0.3}, {"background": "dark"},
        {"colour": "displacement"},
        {"camera": {"position": [2, -2, 1], "target": [0.2, 0.1, 0.1]}}, {"follow": True},
    ):  # fmt: skip
        assert np.abs(draw(**({"title": "", "time": False} | options)) - plain).mean() > 0.05, options
    assert draw(style="tets", section="y=0.2").shape == plain.shape  # nothing is left of the body
    shadowless = draw(title="", time=False, shadow=False)
    assert (plain.mean(axis=2) <= shadowless.mean(axis=2) + 3).mean() > 0.999  # shadows only darken


def test_a_sheet_and_runs_side_by_side(draw: Any, run: Run) -> None:
    sheet = draw(frame=None, sheet="3x2", size="96x64")
    assert sheet.shape == (2 * 64 + 4, 3 * 96 + 8, 3)
    tiles = [sheet[r : r + 64, c : c + 96] for r in (0, 68) for c in (0, 100, 200)]
    for first, second in pairwise(tiles):
        assert np.abs(first - second).mean() > 0.3
    coloured = draw(frame=None, sheet="3x2", size="96x64", colour="displacement", title="Six")
    head, side = coloured.shape[0] - 132, coloured.shape[1] - 296
    assert head > 10
    assert side > 30
    margin = coloured[head:, 296:].reshape(-1, 3)
    assert len(np.unique(margin, axis=0)) > 30  # the colour bar; without one there is paper only
    assert draw(frame=None, sheet="3x2", size="96x64", colour="displacement", bar=False).shape == sheet.shape
    both = draw([run, run])
    assert both.shape == (128, 384, 3)
    assert np.abs(both[:, 4:192] - both[:, 196:384]).mean() < 0.01


def test_a_sheet_of_a_fast_run_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A movie in real time leaves pictures out, a sheet does not."""
    import pliant as pl

    scene = pl.Scene([pl.Body(pl.shapes.box(0.1, 0.1, 0.1, divisions=(1, 1, 1)))], [pl.Gravity()])
    fast = scene.run(duration=0.02, fps=1000, to=tmp_path / "fast.pliant")
    times: list[float] = []

    def blank(plan: Any, shots: Any, workers: int | None, team: Any) -> Any:
        times[:] = [shot.time for shot in shots]
        return (np.zeros((64, 96, 3), np.uint8) for _ in shots)

    monkeypatch.setattr("pliant.render.render_run.pictures", blank)
    fast.render(tmp_path / "sheet.png", sheet="3x2", size="96x64")
    np.testing.assert_allclose(times, [0.0, 0.004, 0.008, 0.012, 0.016, 0.02])


def movie(path: Path) -> tuple[float, Any]:
    """Pictures a second, and the pictures, as ffmpeg reads them."""
    import imageio_ffmpeg

    program = [imageio_ffmpeg.get_ffmpeg_exe(), "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    done = subprocess.run(program, capture_output=True, check=True)
    about = re.search(r"Video: h264.*?, (\d\d+)x(\d\d+).*?([\d.]+) fps", done.stderr.decode())
    assert about
    width, height = int(about[1]), int(about[2])
    return float(about[3]), np.frombuffer(done.stdout, np.uint8).reshape(-1, height, width, 3).astype(float)


def test_a_movie_moves_in_real_time_and_comes_from_both_processes(
    drawable: Path, run: Run, tmp_path: Path
) -> None:
    calls: list[tuple[int, int]] = []
    path = run.render(
        tmp_path / "block.mp4", size="190x130", workers=2, progress=lambda *count: calls.append(count)
    )
    fps, frames = movie(path)
    assert fps == 50.0
    assert frames.shape == (11, 128, 192, 3)
    assert calls == [(k, 11) for k in range(1, 12)]
    steps = np.abs(np.diff(frames, axis=0)).mean(axis=(1, 2, 3))
    assert (steps > 0.2).all()
    rows = [np.flatnonzero(of_the_body(frame).any(axis=1)).mean() for frame in frames[:8]]
    assert rows[-1] > rows[0] + 2  # it falls


def test_processes_that_were_started_earlier_draw_the_same_pictures(
    drawable: Path, run: Run, tmp_path: Path
) -> None:
    asked: dict[str, Any] = {"size": "96x64", "frames": [0, 1, 2]}
    with DrawingTeam(2) as team:
        early = movie(render(run, tmp_path / "early.mp4", team=team, **asked))[1]
    late = movie(render(run, tmp_path / "late.mp4", **asked))[1]
    assert np.array_equal(early, late)
    with DrawingTeam(1):
        pass  # nothing to draw: the process ends with the block


@pytest.mark.parametrize(
    ("options", "pictures"), [({"rate": 25}, 5), ({"rate": 60}, 12), ({"speed": 0.5, "rate": 40}, 16)]
)
def test_a_movie_lasts_as_long_as_the_scene(
    drawable: Path, run: Run, tmp_path: Path, options: dict[str, float], pictures: int
) -> None:
    """Ten frames of 0.02 s are 0.2 s: 0.2 s times 25, 60 and 2 times 40 pictures a second."""
    fps, frames = movie(run.render(tmp_path / "block.mp4", size="96x64", **options))
    assert fps == options["rate"]
    assert len(frames) == pictures
    assert len(frames) / fps == pytest.approx(0.2 / options.get("speed", 1.0))


def test_the_camera_of_the_scene_takes_the_picture(
    draw: Any, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A block 0.4 m long, 2 m away, in a picture that is 28 degrees high."""
    camera = "camera = { position = [0.2, -2.0, 0.25], target = [0.2, 0.0, 0.25], angle = 28 }\n"
    monkeypatch.setattr(Run, "scene_text", camera + run.scene_text)
    seen = draw(frame=0, ground="none", shadow=False)
    columns = np.flatnonzero(of_the_body(seen).any(axis=0))
    height = 2 * np.tan(np.radians(14)) * 2.0  # of the picture [m] at the face of the block
    assert np.ptp(columns) == pytest.approx(0.4 / height * seen.shape[0], rel=0.05)
    assert columns.mean() == pytest.approx(seen.shape[1] / 2, abs=3)
    iso = draw(frame=0, ground="none", shadow=False, view="iso")
    assert np.abs(iso - seen).mean() > 5.0


def test_blue_green_red(draw: Any) -> None:
    from pliant.render.colour_maps import colour_map

    found = [colour_map("blue-green-red")(s)[:3] for s in (0.0, 0.5, 1.0)]
    np.testing.assert_allclose(found, [[0, 0, 1], [0, 1, 0], [1, 0, 0]], atol=0.01)
    seen = draw(frame=0, colour="displacement", range="0:1", map="blue-green-red", bar=False)
    assert (seen[..., 2] > 1.4 * seen[..., :2].max(axis=2)).sum() > 100, "nothing has moved: all blue"


def test_a_gif_turns(draw: Any, run: Run, tmp_path: Path) -> None:
    from PIL import Image

    path = render(run, tmp_path / "block.gif", size="96x64", turntable=1, frames=slice(0, 6), fps=10)
    image: Any
    with Image.open(path) as image:
        assert image.size == (96, 64)
        assert image.n_frames == 6
        assert image.info["duration"] == 100
        frames = []
        for k in range(image.n_frames):
            image.seek(k)
            frames.append(np.asarray(image.convert("RGB"), float))
    assert all(np.abs(a - b).mean() > 1.0 for a, b in pairwise(frames))


@pytest.mark.parametrize(("out", "options", "message"), [
    ("a.jpg", {}, "Cannot draw 'a.jpg'; did you mean '.png'"),
    ("a.png", {"style": "surfce"}, "no style 'surfce'; did you mean 'surface'"),
    ("a.png", {"view": "isometric"}, "no view"),
    ("a.png", {"style": "cracks", "colour": "stress"}, "colours of its own"),
    ("a.png", {"size": "12"}, "size = '12': expected two"),
    ("a.png", {"size": "4x4"}, "16 to"),
    ("a.png", {"frame": 99}, "no frame 99"),
    ("a.png", {"frame": 1, "frames": 2}, "not both"),
    ("a.png", {"section": "w=1"}, "expected an axis"),
    ("a.png", {"section": "x=1kg"}, "not a quantity in m"),
    ("a.png", {"section": "y=9"}, r"nothing to cut.*from y=-?0\.\d+ to 0\.2"),
    ("a.png", {"colour": "stres"}, "no field 'stres'"),
    ("a.png", {"map": "virids"}, "no colour map 'virids'; did you mean 'viridis'"),
    ("a.png", {"ground": "floor"}, "ground = 'floor'"),
    ("a.png", {"zoom": 0.0}, "above 0"),
    ("a.png", {"bodies": ["blok"]}, "no body 'blok'; did you mean 'block'"),
    ("a.mp4", {"sheet": "2x2"}, "no sheet"),
    ("a.mp4", {"frame": 1}, "no single frame"),
    ("a.gif", {"fps": 0.0}, "fps = 0"),
    ("a.mp4", {"rate": 0.0}, "rate = 0"),
    ("a.png", {"speed": 0.5}, "A picture has no speed"),
    ("a.mp4", {"speed": 0.5, "fps": 10}, "speed cannot be used with fps"),
    ("a.mp4", {"rate": 5, "turntable": 1}, "rate cannot be used with turntable"),
])  # fmt: skip
def test_mistakes_are_told_before_anything_is_drawn(
    run: Run, tmp_path: Path, out: str, options: dict[str, Any], message: str
) -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'pliant[render]'")
    with pytest.raises(InputError, match=message):
        render(run, tmp_path / out, **options)
    assert not list(tmp_path.iterdir())


def test_files_are_left_alone_without_force(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'pliant[render]'")
    (tmp_path / "a.png").write_text("mine")
    with pytest.raises(InputError, match=r"exists already.*--force"):
        render(run, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_text() == "mine"


def test_missing_packages_and_graphics_say_what_to_install(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyvista", reason="needs pyvista: pip install 'pliant[render]'")
    monkeypatch.setattr(sys, "executable", "/bin/false")  # a child that dies as one does without OpenGL
    with pytest.raises(MissingExtra, match=r"Nothing can be drawn here.*libegl1"):
        render(run, tmp_path / "a.png")
    monkeypatch.setattr(
        "pliant.core.environment.find_spec", lambda name: None if name == "pyvista" else object()
    )
    with pytest.raises(MissingExtra, match=r"needs pyvista.*pip install 'pliant\[render\]'"):
        render(run, tmp_path / "a.png")
    assert not list(tmp_path.iterdir())


def test_an_interrupted_movie_leaves_nothing(draw: Any, run: Run, tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        render(run, tmp_path / "a.mp4", size="96x64", progress=stop)
    assert not list(tmp_path.iterdir())


def test_a_notebook_shows_a_poster_and_facts(drawable: Path, run: Run) -> None:
    text = run._repr_html_()
    assert "data:image/png;base64," in text
    assert len(text) < 120_000
    for fact in ("block.pliant", "11", "0.2 s", "mass-spring"):
        assert fact in text


def test_a_notebook_without_graphics_says_why(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pliant.core.environment.find_spec", lambda name: None)
    assert "no picture: Drawing pictures needs" in run._repr_html_()
