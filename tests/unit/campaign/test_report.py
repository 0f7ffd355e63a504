"""The page of a sweep, in a browser, and the sheet of its points."""

from pathlib import Path
from typing import Any

import pytest

from pliant.campaign import sweep
from pliant.campaign.report import parallel_coordinates
from pliant.cli.main import run as command

YOUNG = "bodies.beam.material.young"


def test_a_page_with_everything_in_it(beam: Path, browser: Any) -> None:
    pytest.importorskip("pyvista")
    study = sweep(
        beam, {YOUNG: "log:1..4 MPa:2", "bodies.beam.material.poisson": [0.3, 0.7]}, beam.parent / "s.sweep",
        on="local:2", progress=False,
    )  # fmt: skip
    page = beam.parent / "report.html"
    assert command(["sweep", str(study.path), "--report", str(page), "-q"]) == 0
    view = browser.new_page()
    errors: list[object] = []
    view.on("pageerror", lambda error: errors.append(str(error)))
    view.on("request", lambda request: errors.append(request.url) if request.url.startswith("http") else None)
    view.goto(page.as_uri())
    assert view.locator(".parallel a").count() == 2
    assert view.locator(".thumbs img").count() == 2
    assert view.locator(".thumbs img").first.evaluate("image => image.naturalWidth") > 100
    assert view.locator("tr.bad").count() == 2
    link = view.locator(".parallel a").first.get_attribute("href")
    assert (beam.parent / link / "manifest.json").is_file()
    assert errors == []
    view.close()
    sheet = beam.parent / "sheet.png"
    assert command(["sweep", str(study.path), "--sheet", str(sheet), "-q"]) == 0
    assert sheet.stat().st_size > 2000
    assert command(["sweep", str(study.path), "--report", str(beam.parent / "report.pdf")]) == 2


def test_all_models_are_named_on_their_axis() -> None:
    names = ["fem", "mass-spring", "cpm1", "cpm2", "efg", "lattice", "multires", "rigid"]
    rows = [{"point": k, "model": name, "tip": float(k)} for k, name in enumerate(names)]
    drawn = parallel_coordinates(rows, ["model", "tip"], ["model"], {}, dict.fromkeys(range(8), "x"))
    assert all(f">{name}<" in drawn for name in names)
