"""Runs to pictures, movies and graphs, with or without a screen.

render(run, "beam.png")                          a picture of the last frame
render(run, "beam.mp4", colour="stress")         a movie; .gif likewise
render([soft, stiff], "sheet.png", sheet="3x4")  a contact sheet, two runs side by side
plot(run, ["tip.z"], "tip.svg")                  a graph; .png and .pdf likewise

``render_run`` decides what is to be seen; child processes draw it (``worker_pool``, ``worker``,
``pyvista_scene``), so that graphics libraries never load into this process, and their crash is an error
message.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pliant.render.graphs import plot
    from pliant.render.render_run import render

__all__ = ["plot", "render"]

_MODULES = {"plot": "pliant.render.graphs", "render": "pliant.render.render_run"}


def __getattr__(name: str) -> Any:
    """``plot`` and ``render``, loaded on first use: processes that draw need neither."""
    if name not in _MODULES:
        raise AttributeError(f"module 'pliant.render' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
