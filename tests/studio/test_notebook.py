"""What notebooks show."""

import re
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from bodies import block

import pliant as pl

pytest.importorskip("uvicorn")


def test_a_run_and_a_scene_show_the_viewer_inline(tmp_path: Path) -> None:
    body = block()
    scene = pl.Scene([body], [pl.Gravity()])
    run = scene.run(duration=0.02, fps=50, to=tmp_path / "fall.pliant")
    for shown in (run.view(300), scene.view()):
        found = re.search(r'src="([^"]+)"', shown._repr_html_())
        assert found
        address = found[1].replace("&amp;", "&")
        page = urllib.request.urlopen(address, timeout=20).read().decode()
        assert "studio.js" in page
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(address.replace("token=", "token=x"), timeout=20)


def test_scenes_are_ready_and_runs_are_shown_in_a_frame(page: Any, tmp_path: Path) -> None:
    scene = pl.Scene([block()], [pl.Gravity()])
    run = scene.run(duration=0.04, fps=50, to=tmp_path / "fall.pliant")
    cells = "".join(each._repr_html_() for each in (run.view(300), scene.view(300)))
    notebook = "http://127.0.0.1:1/notebook"  # framing needs a page that came over the network
    page.route(notebook, lambda route: route.fulfill(body=cells, content_type="text/html"))
    page.goto(notebook)
    for inner in page.frames[1:]:
        inner.wait_for_function("() => window.studio && studio.app.store.state.frame", polling=50)
        assert inner.evaluate("() => studio.app.viewer.bodies[0].particles.length") > 0
        assert not inner.is_visible(".topbar")
        assert inner.is_visible("#scrub")
    first = page.frames[1]
    assert first.evaluate("() => studio.app.store.state.frame.last") == 2


def test_elsewhere_there_is_a_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyvista")
    monkeypatch.setenv("JUPYTERHUB_USER", "somebody")
    scene = pl.Scene([block()], [pl.Gravity()])
    text = scene.view()._repr_html_()
    assert "data:image/png;base64," in text
    assert "PLIANT_VIEW=inline" in text
    assert "<iframe" not in text
