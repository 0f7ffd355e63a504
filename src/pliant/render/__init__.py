"""Runs to pictures, movies and graphs, with or without a screen.

render(run, "beam.png")                          a picture of the last frame
render(run, "beam.mp4", colour="stress")         a movie; .gif likewise
render([soft, stiff], "sheet.png", sheet="3x4")  a contact sheet, two runs side by side
plot(run, ["tip.z"], "tip.svg")                  a graph; .png and .pdf likewise

``render_run`` decides what is to be seen; child processes draw it (``worker_pool``, ``worker``,
``pyvista_scene``), so that graphics libraries never load into this process, and their crash is an error
message.
"""

from pliant.render.graphs import plot
from pliant.render.render_run import render

__all__ = ["plot", "render"]
