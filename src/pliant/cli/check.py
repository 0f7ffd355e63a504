"""``pliant check``: look a scene over without running it."""

from typing import TYPE_CHECKING

from pliant.cli import options
from pliant.cli.output import say, say_json, say_pairs, say_table
from pliant.core.text import seconds, size

if TYPE_CHECKING:
    from pliant.scene.check import Report

EXAMPLES = ("pliant check beam.toml", "pliant check beam.toml --set bodies.beam.edge=0.02 --json")


def command(
    scene: options.SceneFile,
    model: options.Model = None,
    integrator: options.Integrator = None,
    step: options.Step = None,
    duration: options.Duration = None,
    fps: options.Fps = None,
    threads: options.Threads = None,
    set_: options.Set = None,
    json: options.Json = False,
) -> None:
    """Validate a scene without running it: bodies, sizes, masses, time step, cost, warnings."""
    found = options.read_scene(scene, model, integrator, step, duration, fps, set_)
    from pliant.kernels.jit import set_threads
    from pliant.scene.check import check

    set_threads(threads)
    with options.about(scene):
        report = check(found)
    if json:
        say_json(report.to_dict())
    else:
        show(report)


def show(report: "Report") -> None:
    """The report for people."""
    if report.title:
        say(report.title)
    head = ("body", "model", "particles", "cells", "mass [kg]", "volume [m3]", "size [m]", "E [Pa]", "nu")
    rows = []
    for body in report.bodies:
        extent = " x ".join(f"{b - a:.3g}" for a, b in zip(body.low, body.high, strict=True))
        constants = body.material["young"], body.material["poisson"]
        counts = body.particles, body.cells, body.mass, body.volume
        rows.append((body.name, body.model, *counts, extent, *constants))
    say_table(head, rows)
    say()
    memory = [] if report.memory is None else [("memory", size(report.memory))]
    say_pairs(
        [
            ("time", f"{report.duration:g} s, {report.frames} frames"),
            ("step", f"{report.step:.4g} s: {report.step_reason}"),
            ("steps", f"{report.steps} with {report.integrator}"),
            ("takes", f"about {seconds(report.wall)} here"),
            ("disk", f"about {size(report.disk)}"),
            *memory,
        ]
    )
    for text in report.warnings:
        say(f"warning: {text}")
