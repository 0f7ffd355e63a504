"""The card of a data set: what it is, how it was made, its licence, how to rebuild it."""

from typing import TYPE_CHECKING

from pliant.core.tables import TableView

if TYPE_CHECKING:
    from pliant.campaign import Sweep


def card_text(name: str, index: TableView, study: "Sweep") -> str:
    """The card as Markdown."""
    rows, every = study.points, f"one in {index['every']} of those recorded"
    lines = [
        f"# {name}",
        "",
        f"Simulations of the scene `{index['scene']}` ({index['scene_hash']}), pliant {index['pliant']}.",
        "",
        f"- Licence: {index['licence']}",
        f"- Samples: {', '.join(f'{len(runs)} {split}' for split, runs in index['splits'].items())}",
        f"- Split: {index['split']} (train, valid, test), by the hash of a sample's scene",
        f"- Frames: {'all recorded ones' if index['every'] == 1 else every}",
        f"- Failed points: {index['failures']} (study.sweep/failures.csv); refused: {len(index['refused'])}",
        f"- Versions: {', '.join(f'{package} {version}' for package, version in index['versions'].items())}",
        "",
        "## Parameters",
        "",
        "| key | unit | values |",
        "| --- | --- | --- |",
    ]
    for key in study.keys:
        values = [row[key] for row in rows if key in row]
        numbers = [value for value in values if isinstance(value, (int, float))]
        if len(numbers) == len(values) and numbers:
            shown = f"{min(numbers):.6g} to {max(numbers):.6g}, {len(set(numbers))} values"
        else:
            shown = ", ".join(dict.fromkeys(map(str, values)))
        lines.append(f"| `{key}` | {study.manifest['keys'][key]['unit'] or '-'} | {shown} |")
    lines += ["", "## Arrays of a sample (SPLIT/HASH)", "", "| array | content |", "| --- | --- |"]
    lines += [f"| `{array}` | {about} |" for array, about in index["layout"].items()]
    lines += [
        "",
        "## Rebuild",
        "",
        "Every sample is the run `study.sweep/runs/HASH`, which keeps its scene. With the versions above,",
        "on the same kind of machine, a sample is rebuilt byte for byte:",
        "",
        "```sh",
        f"pliant dataset {name} --rebuild HASH      # or --rebuild 1%",
        "```",
    ]
    return "\n".join(lines) + "\n"
