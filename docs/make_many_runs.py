"""Figures of docs/sweeps.md, fitting.md and datasets.md: make_many_runs.py [bracket] [treloar] [samples]."""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import pliant as pl
from pliant.calibration.report import draw_fit
from pliant.render.graphs import COLOURS, PAPER, STYLE

HERE = Path(__file__).parent
PICTURES = HERE / "pictures"
MATCH = [
    "'tension-force.x'=tension@stretch-tension:1 + 6.6 * time",
    "'biaxial-force.x'=biaxial@stretch-biaxial:1 + 3.45 * time",
    "'shear-force.x'=shear@stretch-shear:1 + 3.96 * time",
]
ALPHA = "bodies.*.model.law-parameters.alpha"
LAWS: dict[str, tuple[Any, dict[str, str]]] = {
    "neo-Hookean": ({"type": "fem", "law": "neo-hookean"}, {}),
    "Mooney-Rivlin": (
        {"type": "fem", "law": "mooney-rivlin", "law-parameters": {"ratio": 0.1}},
        {"bodies.*.model.law-parameters.ratio": "0.0001..1:log"},
    ),
    "Ogden": (
        {
            "type": "fem",
            "law": "ogden",
            "law-parameters": {"alpha": [1.3, 5.0, -2.0], "mu": [6.3, 0.012, -0.1]},
        },
        {
            f"{ALPHA}.0": "1..2",
            f"{ALPHA}.1": "3..9",
            "bodies.*.model.law-parameters.mu.1": "0.000001..0.1:log",
        },
    ),
}


def figure(columns: int, width: float = 3.4, height: float = 3.0) -> Any:
    """A figure in the style of the other pages, and its axes."""
    import matplotlib

    matplotlib.rcParams.update(STYLE | PAPER)
    from matplotlib.figure import Figure

    made = Figure(figsize=(width * columns, height), layout="constrained")
    return made, made.subplots(1, columns, squeeze=False)[0]


def treloar() -> None:
    """Three laws of rubber fitted to three curves at once."""
    results = {}
    for name, (model, ranges) in LAWS.items():
        vary = {"bodies.*.material.young": "0.2..5 MPa:log", **ranges}
        results[name] = pl.fit(
            HERE / "studies" / "treloar.toml", HERE / "studies" / "treloar.csv", MATCH, vary, model=model,
            starts=8 * len(vary), progress=print,
        )  # fmt: skip
        print(name, json.dumps(results[name].to_dict(), indent=1))
    made, axes = figure(3)
    for k, (axis, title) in enumerate(zip(axes, ("tension", "equibiaxial", "pure shear"), strict=True)):
        curve = results["Ogden"].curves[k]
        axis.plot(curve.x, curve.y / 1e6, "o", ms=3, color="#22272E", label="Treloar 1944")
        for colour, (name, result) in zip(COLOURS, results.items(), strict=False):
            order = np.argsort(curve.x)
            axis.plot(curve.x[order], result.predicted[k][order] / 1e6, "-", color=colour, label=name)
        axis.set_title(title)
        axis.set_xlabel("stretch")
    axes[0].set_ylabel("nominal stress [MPa]")
    axes[0].legend()
    made.savefig(PICTURES / "treloar.png", dpi=150)
    draw_fit(results["Ogden"], PICTURES / "treloar-residuals.png")
    for name in ("treloar.png", "treloar-residuals.png"):
        _quantise(PICTURES / name)


def bracket() -> None:
    """Thickness and material of a bracket: what it weighs, and how far it gives way."""
    vary = {
        "bodies.arm.shape.box.size.2": "8..20 mm:5",
        "bodies.arm.material": ["polyethylene", "nylon", "aluminium"],
    }
    with tempfile.TemporaryDirectory() as place:
        study = pl.sweep(
            HERE / "studies" / "bracket.toml", vary, Path(place) / "bracket.sweep",
            reduce=["tip.z:last", "peak-stress:last", "volume:first"], progress=True,
        )  # fmt: skip
        rows = study.results
        print(json.dumps(rows, indent=1), study.failures)
        study.sheet(PICTURES / "bracket-sheet.png", size="320x224")
        density = {
            name: pl.materials.resolve(name).density for name in ("polyethylene", "nylon", "aluminium")
        }
    made, (axis,) = figure(1, 4.6, 3.2)
    weights = [1e3 * row["volume.first"] * density[row["bodies.arm.material"]] for row in rows]
    sags = [-1e3 * row["tip.z.last"] for row in rows]
    for colour, name in zip(COLOURS, density, strict=False):
        own = [k for k, row in enumerate(rows) if row["bodies.arm.material"] == name]
        axis.plot([weights[k] for k in own], [sags[k] for k in own], "o-", ms=4, color=colour, label=name)
    pairs = sorted(zip(weights, sags, strict=True))
    best = [(w, s) for w, s in pairs if not any(a < w and b < s for a, b in pairs)]
    axis.plot(*zip(*best, strict=True), "--", lw=1, color="#22272E", label="Pareto front")
    axis.set_yscale("log")
    axis.set_xlabel("mass [g]")
    axis.set_ylabel("sag of the tip [mm]")
    axis.legend()
    made.savefig(PICTURES / "bracket-pareto.png", dpi=150)


def samples(count: int = 32) -> None:
    """A data set of the beam: how its samples swing, and a small network that learns from them."""
    sys.path.insert(0, str(HERE / "studies"))
    from train import train

    young = "bodies.beam.material.young"
    with tempfile.TemporaryDirectory() as place:
        made = pl.dataset(
            HERE / "studies" / "beam.toml",
            {young: "log:0.2..2 MPa", "bodies.beam.material.poisson": "0.2..0.45"},
            Path(place) / "beam.dataset", sample=f"sobol:{count}", progress=True,
        )  # fmt: skip
        made_figure, (left, right) = figure(2, 3.6, 2.8)
        from matplotlib import colormaps

        for sample in made.samples("all"):
            end = sample["mesh_pos"][:, 0] == sample["mesh_pos"][:, 0].max()
            sag = 1e3 * (sample["world_pos"][:, end, 2] - sample["mesh_pos"][end, 2]).mean(axis=1)
            share = (np.log10(sample["parameters"][0]) - np.log10(2e5)) / 1.0
            left.plot(sample["time"], sag, lw=0.8, color=colormaps["viridis"](share))
        losses = train(str(made.path))
    left.set_xlabel("time [s]")
    left.set_ylabel("sag of the tip [mm]")
    left.set_title("samples, stiffer ones lighter")
    right.plot(range(1, len(losses) + 1), losses, color=COLOURS[0])
    right.set_ylim(bottom=0.0)
    right.set_xlabel("epoch")
    right.set_title("loss")
    made_figure.savefig(PICTURES / "dataset.png", dpi=100)
    _quantise(PICTURES / "dataset.png")


def _quantise(path: Path) -> None:
    """Keep 32 colours of a graph: pictures of the pages are small."""
    from PIL import Image

    Image.open(path).convert("RGB").quantize(32).save(path, optimize=True)


if __name__ == "__main__":
    made_of = {"bracket": bracket, "treloar": treloar, "samples": samples}
    for name in sys.argv[1:] or made_of:
        made_of[name]()
