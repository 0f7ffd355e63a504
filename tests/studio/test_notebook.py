"""What notebooks show."""

import re
import urllib.error
import urllib.request
from pathlib import Path

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
