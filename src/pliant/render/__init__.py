"""Runs to pictures, movies and graphs, with or without a screen.

render(run, "beam.png")                          a picture of the last frame
render(run, "beam.mp4", colour="stress")         a movie; .gif likewise
render([soft, stiff], "sheet.png", sheet="3x4")  a contact sheet, two runs side by side
plot(run, ["tip.z"], "tip.svg")                  a graph; .png and .pdf likewise

What is to be seen is worked out here (``making``); child processes draw it (``team``, ``worker``, ``stage``),
so that graphics libraries never load into this process, and their crash is an error message.
"""

from pliant.render.graphs import plot
from pliant.render.render_run import render

__all__ = ["plot", "render"]
