"""Exports from the studio: files that are downloaded, and read by other programs' readers."""

import io
import re
import subprocess
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from serving import Served, start
from steps import STATE, build, enter, state, wait

SHORT = """
schema = 1
title = "Falling block"
[time]
duration = 0.82
fps = 50
[[bodies]]
name = "block"
shape = { box = { size = [0.4, 0.2, 0.2], divisions = [4, 2, 2] } }
material = { young = 5e4, poisson = 0.3, density = 1000 }
position = [0, 0, 1]
[[actions]]
type = "gravity"
"""


def run_to_the_end(page: Any) -> None:
    build(page)
    page.select_option("#speed", "fastest")
    page.click("#run")
    wait(page, f"{STATE}.status.frame === 41 && !{STATE}.status.playing")
    wait(page, f"{STATE}.frame.last === 41")


def exported(page: Any, folder: Path, format: str, **choices: str) -> Path:
    """Choose a format and options in the dialog, and take the file that is downloaded."""
    page.click("#export")
    label = page.evaluate(
        "(format) => [...document.querySelectorAll('#export-format option')]"
        ".map((each) => each.value).find((each) => each.startsWith(`${format} –`))",
        format,
    )
    page.select_option("#export-format", label)
    for name, value in choices.items():
        page.select_option(f"#export-{name}", value)
    with page.expect_download() as found:
        page.click("#export-start")
    path = folder / found.value.suggested_filename
    found.value.save_as(path)
    page.wait_for_selector("#export-dialog", state="detached")
    return path


def movie(path: Path) -> tuple[float, float, Any]:
    """Duration [s], pictures a second and the pictures of a movie, as ffmpeg reads them."""
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    program = [ffmpeg.get_ffmpeg_exe(), "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    done = subprocess.run(program, capture_output=True, check=True)
    said = done.stderr.decode()
    long = re.search(r"Duration: (\d+):(\d+):([\d.]+)", said)
    about = re.search(r"Video: .*?, (\d\d+)x(\d\d+).*?([\d.]+) fps", said)
    assert long
    assert about
    shape = (-1, int(about[2]), int(about[1]), 3)
    seconds = 3600 * int(long[1]) + 60 * int(long[2]) + float(long[3])
    return seconds, float(about[3]), np.frombuffer(done.stdout, np.uint8).reshape(shape).astype(int)


@pytest.mark.parametrize("scene", [SHORT], indirect=True)
def test_a_movie_lasts_as_long_as_the_scene(page: Any, scene: Served, pictures: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyvista")
    enter(page, scene)
    run_to_the_end(page)
    page.click("#export")
    page.select_option("#export-rate", "50")
    assert page.inner_text("#export-told") == "0.82 s, 41 pictures, of 0.82 s of the scene"
    page.screenshot(path=pictures / "export.png")
    page.keyboard.press("Escape")
    page.evaluate("() => studio.app.viewer.stage.shoot([2.5, -4, 0], [0.2, 0.1, -0.6], 50)")
    path = exported(page, tmp_path, "mp4", rate="50", size="960 × 540")
    assert path.name == "Falling-block.mp4"
    seconds, rate, frames = movie(path)
    assert (seconds, rate) == (0.82, 50.0)
    assert frames.shape == (41, 544, 960, 3), "sides in blocks of 16"
    body = frames[..., 0] - frames[..., 2] > 60
    assert body.sum(axis=(1, 2)).min() > 200
    rows = [np.flatnonzero(each.any(axis=1)).mean() for each in body]
    assert (np.diff(rows[3:]) > 0).all(), "it falls, seen from a camera that stands still"

    page.click("#export")
    page.select_option("#export-speed", "1/10")
    page.click("#export-start")
    page.wait_for_function("() => document.getElementById('export-progress').textContent.includes('%')")
    page.screenshot(path=pictures / "export-running.png")
    page.click("#export-cancel")
    page.wait_for_selector(".notice.info >> text=cancelled")
    wait(page, f"{STATE}.exporting === null")
    assert not page.problems


@pytest.mark.parametrize("scene", [SHORT], indirect=True)
def test_files_of_other_programs_and_the_camera_of_the_scene(
    page: Any, scene: Served, tmp_path: Path
) -> None:
    trimesh = pytest.importorskip("trimesh")
    enter(page, scene)
    page.click("#export")
    page.wait_for_selector(".notice.error >> text=Nothing has been recorded yet")
    run_to_the_end(page)
    page.evaluate("() => studio.app.viewer.stage.shoot([1.5, -2, 1.25], [0.2, 0.1, 0.75], 35)")
    page.click("#keep-camera")
    wait(page, f"{STATE}.table.camera")
    assert state(page, "built") == state(page, "version"), "a camera changes nothing that is simulated"

    packed = exported(page, tmp_path, "obj", frames="all", units="cm")
    with zipfile.ZipFile(packed) as archive:
        names = sorted(archive.namelist())
        assert names[0] == "Falling-block_0000.obj"
        assert len(names) == 42
        first, last = (
            trimesh.load(io.BytesIO(archive.read(name)), file_type="obj", process=False)
            for name in (names[0], names[41])
        )
    np.testing.assert_allclose(first.bounds, [[0, 0, 100], [40, 20, 120]], atol=1e-6)
    fallen = 100 * 0.5 * 9.81 * 0.82**2  # [cm]
    assert first.vertices[:, 2].mean() - last.vertices[:, 2].mean() == pytest.approx(fallen, rel=0.002)

    pygltflib = pytest.importorskip("pygltflib")
    tree = pygltflib.GLTF2().load(str(exported(page, tmp_path, "glb")))
    (node,) = [each for each in tree.nodes if each.camera is not None]
    np.testing.assert_allclose(node.translation, [1.5, 1.25, 2.0], atol=1e-5)  # y points up in GLB files
    assert np.degrees(tree.cameras[0].perspective.yfov) == pytest.approx(35)
    Usd = pytest.importorskip("pxr.Usd")
    stage = Usd.Stage.Open(str(exported(page, tmp_path, "usd")))
    assert stage.GetPrimAtPath("/World/camera")
    assert stage.GetEndTimeCode() == 41
    series = np.genfromtxt(exported(page, tmp_path, "csv"), delimiter=",", names=True)
    assert len(series) == 42
    rib = exported(page, tmp_path, "rib", frames="the one shown")
    assert rib.name == "Falling-block_0041.rib"
    assert '"float fov" [35]' in rib.read_text()

    page.click("#save")
    page.fill("#save-name", "shot")
    page.click("#save-scene")
    page.wait_for_selector(".notice.done >> text=shot.toml")
    kept = tomllib.loads((scene.folder / "shot.toml").read_text())
    assert kept["camera"] == {"position": [1.5, -2, 1.25], "target": [0.2, 0.1, 0.75], "angle": 35}
    again = start(scene.folder, str(scene.folder / "shot.toml"))
    try:
        enter(page, again)
        build(page)
        found = page.evaluate("() => studio.app.viewer.stage.shot()")
        assert found == {"position": [1.5, -2, 1.25], "target": [0.2, 0.1, 0.75], "angle": 35}
    finally:
        again.process.terminate()
        again.process.wait(10)
        again.process.stdout.close()
    assert not page.problems
