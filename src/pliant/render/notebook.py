"""A run in a notebook: a small picture of its last frame, and facts."""

import base64
import html as escaping
import io
import tempfile
from pathlib import Path

from pliant.core.errors import PliantError
from pliant.run.store import Run

POSTER = (480, 272)


def html(run: Run) -> str:
    """The run as HTML; where no picture can be drawn, it says why."""
    info = run.info()
    speed = info["real_time_factor"]
    planned = run.manifest["frames_total"]
    facts = [
        ("state", run.state),
        ("frames", f"{len(run)} of {planned}" if len(run) < planned else f"{len(run)}"),
        ("time", f"{float(run.times[-1]):g} s" if len(run) else "none yet"),
        ("took", f"{info['wall']:.3g} s" + (f", {speed:.3g} x real time" if speed else "")),
    ]
    facts += [
        (body.name, f"{body.model}, {body.particles} particles, {body.cells} cells, {body.mass:.4g} kg")
        for body in run.bodies
    ]
    rows = "".join(
        f"<tr><th style='text-align:left'>{escaping.escape(str(name))}</th>"
        f"<td style='text-align:left'>{escaping.escape(str(value))}</td></tr>"
        for name, value in facts
    )
    name = escaping.escape(run.path.name)
    return (
        f"<div style='display:flex;gap:16px;align-items:center'>{_poster(run)}"
        f"<div><b>{name}</b><table>{rows}</table></div></div>"
    )


def _poster(run: Run) -> str:
    if not len(run):
        return ""
    try:
        data = base64.b64encode(poster(run)).decode()
    except PliantError as error:
        return f"<i>no picture: {escaping.escape(str(error))}</i>"
    return f"<img width='{POSTER[0]}' height='{POSTER[1]}' src='data:image/png;base64,{data}'/>"


def poster(run: Run) -> bytes:
    """A small PNG of the last frame, in 256 colours."""
    from PIL import Image

    from pliant.render.render_run import render

    with tempfile.TemporaryDirectory(prefix="pliant-poster-") as folder:
        path = render(run, Path(folder) / "poster.png", size=POSTER, title="")
        with Image.open(path) as image:
            small = image.convert("P", palette=Image.Palette.ADAPTIVE, colors=256)
    file = io.BytesIO()
    small.save(file, format="PNG", optimize=True)
    return file.getvalue()
