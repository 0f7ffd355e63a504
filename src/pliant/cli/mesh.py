"""``pliant mesh``: look a mesh over, mend it, fill it with tets."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from pliant.cli import options
from pliant.cli.output import make_parent, note, say, say_json, say_pairs
from pliant.core.errors import InputError, MeshError, StorageError
from pliant.core.tables import Table
from pliant.core.text import counted

if TYPE_CHECKING:
    from pliant.mesh.mesh import Surface, TetMesh

EXAMPLES = {
    "mesh": (
        "pliant mesh bunny.obj",
        "pliant mesh bunny.obj bunny.vtu --edge 0.01",
        "pliant mesh bunny.obj bunny.str --switches nqa0.01",
        "pliant mesh part.stl part.vtu --scale 0.001",
    ),
}


def mesh(
    source: Annotated[
        Path, typer.Argument(metavar="IN", help="A surface or volume mesh.", show_default=False)
    ],
    out: Annotated[
        Path | None,
        typer.Argument(metavar="OUT", help="Volume mesh to write (default: none).", show_default=False),
    ] = None,
    output: options.OutFile = None,
    edge: Annotated[
        str | None, typer.Option(metavar="METRES", help="Target edge length of the tets.")
    ] = None,
    mesher: Annotated[
        Literal["auto", "tetwild", "tetgen", "lattice"], typer.Option(help="The tetrahedral mesher.")
    ] = "auto",
    switches: Annotated[
        str | None, typer.Option(metavar="TEXT", help="TetGen switches, as nqa0.01 (with --mesher tetgen).")
    ] = None,
    scale: Annotated[float, typer.Option(metavar="FACTOR", help="Multiply all lengths: 0.001 for mm.")] = 1.0,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Report on a mesh; with OUT, repair a surface, tetrahedralize it and write the mesh.

    OUT: .vtu .vtk .msh .mesh .node .str. The default mesher is fTetWild, which also fills surfaces with
    holes and self-intersections; where it fails, the lattice mesher is used. All changes are listed.
    """
    from dataclasses import replace

    from pliant.mesh.diagnostics import health
    from pliant.mesh.io import kind_of, read_surface, read_volume, write_volume
    from pliant.mesh.quality import quality

    output = options.out_file(out, output)
    length = None if edge is None else options.positive("--edge", edge, "m")
    if not 0.0 < scale < float("inf"):
        raise InputError(f"--scale {scale:g}: it must be above 0.")
    if switches is not None and mesher not in ("auto", "tetgen"):
        raise InputError(f"--switches are TetGen's: they mean nothing for --mesher {mesher}.")
    if output is not None:
        _check_output(output, force)
    kind = kind_of(source)
    report: Table = {"input": str(source), "kind": kind}
    volume: TetMesh | None = None
    if kind == "volume":
        if edge is not None or mesher != "auto" or switches is not None:
            raise InputError(
                "The file holds tets already: --edge, --mesher and --switches mean nothing.",
                hint="Leave them out to convert it, or start from a surface.",
            )
        volume = read_volume(source)
        if scale != 1.0:  # blocks of dual cells would not fit any more
            volume = replace(volume, points=volume.points * scale, extra={})
    else:
        surface = read_surface(source)
        surface = replace(surface, points=surface.points * scale)
        with options.about(source):
            report["health"] = found = health(surface).to_dict()
            if output is not None:
                report["notes"] = []
                volume = _filled(surface, length, mesher, switches, report["notes"], json)
                if mesher == "auto" and not switches and not (found["closed"] and found["components"] == 1):
                    parts = counted(found["components"], "part"), counted(found["holes"], "hole")
                    _report(f"{' and '.join(parts)}: fTetWild filled it as it is.", report["notes"], json)
    if volume is not None:
        report["quality"] = quality(volume).to_dict()
    if output is not None and volume is not None:
        if output.suffix.lower() == ".str":  # a structure file holds the dual cells as well
            from pliant.structure.samplers.dual.sampler import with_cells

            volume = with_cells(volume)
        make_parent(output)
        write_volume(output, volume)
        report["output"] = str(output)
    if json:
        say_json(report)
    else:
        _show(report, volume)


def _check_output(output: Path, force: bool) -> None:
    """Refuse what could not be written, before any work is done."""
    from pliant.core.registry import nearest
    from pliant.mesh.io import VOLUME_WRITERS

    if output.suffix.lower() not in VOLUME_WRITERS:
        known = nearest(output.suffix, list(VOLUME_WRITERS))
        raise MeshError(f"{output}: '{output.suffix}' is not a volume format; {known}")
    pair = (".node", ".ele")  # TetGen's come together
    for path in [output.with_suffix(s) for s in pair] if output.suffix.lower() in pair else [output]:
        if path.exists() and (not force or not path.is_file()):
            hint = "--force writes over it." if path.is_file() else None
            raise StorageError(f"{path} exists already; it is not changed.", hint=hint)


def _filled(
    surface: "Surface", edge: float | None, mesher: str, switches: str | None, notes: list[str], quiet: bool
) -> "TetMesh":
    """The tets inside a surface; ``notes`` gets what was done to it."""
    from pliant.mesh.repair import repair
    from pliant.mesh.tetrahedralise import fill

    def tell(text: str) -> None:
        _report(text, notes, quiet)

    if mesher == "tetgen" or switches:  # TetGen takes closed surfaces alone
        surface, done = repair(surface)
        for text in done:
            tell(text)
    return fill(surface, edge, "tetgen" if switches else mesher, switches, notify=tell)


def _report(text: str, notes: list[str], quiet: bool) -> None:
    """Keep a sentence about what was done for the report, and print it now unless ``quiet``."""
    notes.append(text)
    if not quiet:
        note(f"note: {text}")


def _show(report: Table, volume: "TetMesh | None") -> None:
    found = report.get("health")
    if found is not None:
        low, high = found["box_min"], found["box_max"]
        extent = " x ".join(f"{b - a:.4g}" for a, b in zip(low, high, strict=True))
        inside = "open" if found["volume"] is None else f"{found['volume']:.4g} m3"
        say_pairs(
            [
                ("surface", f"{found['vertices']} vertices, {found['triangles']} triangles"),
                ("size", f"{extent} m"),
                ("volume", inside),
                ("parts", found["components"]),
                ("health", "good" if not found["problems"] else f"{len(found['problems'])} findings"),
            ]
        )
        for text in found["problems"]:
            say(f"  - {text}")
    if volume is not None:
        from pliant.mesh.quality import quality

        measured = report["quality"]
        edges, total = measured["edge"], measured["volume"]["total"]
        say(
            f"tets: {len(volume.points)} points, {measured['tets']} tets, {total:.4g} m3, "
            f"edges {edges['min']:.3g} to {edges['max']:.3g} m"
        )
        say(quality(volume).text_histogram())
    if "output" in report:
        say(f"{report['output']} written")
