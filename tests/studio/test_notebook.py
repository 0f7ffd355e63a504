"""What notebooks show."""

import re
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
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


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address at which the files of ``folder`` are."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_scenes_are_ready_and_runs_are_shown_in_a_frame(page: Any, tmp_path: Path) -> None:
    scene = pl.Scene([block()], [pl.Gravity()])
    run = scene.run(duration=0.04, fps=50, to=tmp_path / "fall.pliant")
    cells = "".join(each._repr_html_() for each in (run.view(300), scene.view(300)))
    (tmp_path / "notebook.html").write_text(cells)
    with served(tmp_path) as address:  # frames need a page that came from this machine, as notebooks do
        page.goto(f"{address}/notebook.html")
        look_at(page)


def look_at(page: Any) -> None:
    for inner in page.frames[1:]:
        inner.wait_for_function("() => window.studio && studio.app.store.state.frame", polling=50)
        assert inner.evaluate("() => studio.app.viewer.bodies[0].particles.length") > 0
        assert not inner.is_visible(".topbar")
        assert inner.is_visible("#scrub")
    page.frames[1].wait_for_function("() => studio.app.store.state.frame.last === 2", polling=50)


def test_elsewhere_there_is_a_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyvista")
    monkeypatch.setenv("JUPYTERHUB_USER", "somebody")
    scene = pl.Scene([block()], [pl.Gravity()])
    text = scene.view()._repr_html_()
    assert "data:image/png;base64," in text
    assert "PLIANT_VIEW=inline" in text
    assert "<iframe" not in text
