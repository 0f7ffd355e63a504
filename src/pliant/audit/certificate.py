"""A certificate: what was audited, with which programs, and what was found; as JSON and as a page."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from html import escape
from importlib.metadata import version
from pathlib import Path

from pliant.audit.auditor import StateAudit, audit_state, import_ipctk
from pliant.audit.surface_frames import SurfaceFrame, frames_of
from pliant.core.errors import InputError
from pliant.core.tables import Table

FORMAT = 1
SHOWN = 12  # failing states on the page


@dataclass(frozen=True)
class Certificate:
    """The audits of all states of something. surface: which surfaces were looked at; paths: whether straight
    ways between states were."""

    subject: str
    surface: str
    paths: bool
    states: tuple[StateAudit, ...]

    @property
    def ok(self) -> bool:
        """Whether no state, and no audited way between states, has an intersection."""
        return all(state.ok for state in self.states)

    @property
    def _ways(self) -> str:
        """Which ways between states were audited."""
        recorded = any(state.moves > 1 for state in self.states)
        return "recorded, of bodies in straight moves," if recorded else "straight"

    @property
    def distance(self) -> float | None:
        """The smallest distance between bodies that was seen [m]."""
        return min((s.distance for s in self.states if s.distance is not None), default=None)

    def table(self) -> Table:
        """What ``certificate.json`` holds."""
        digest = hashlib.sha256("".join(state.digest for state in self.states).encode())
        failing = [state for state in self.states if not state.ok]
        return {
            "format": FORMAT,
            "subject": self.subject,
            "sha256": digest.hexdigest(),
            "verdict": "no intersections" if self.ok else "intersections",
            "checked": {
                "states": len(self.states),
                "paths": sum(state.path is not None for state in self.states),
                "moves": sum(state.moves for state in self.states),
                "surface": self.surface,
                "means": "no edge of a surface has a point in common with a triangle that it is no part of"
                + f"; {self._ways} ways between states included" * self.paths,
            },
            "failing_states": len(failing),
            "smallest_distance": self.distance,
            "ipctk_disagrees": sum(state.ipctk != (state.crossings > 0) for state in self.states),
            "versions": {name: version(name) for name in ("pliant", "ipctk", "numpy")},
            "states": [asdict(state) for state in self.states],
        }

    def page(self) -> str:
        """A short HTML page."""
        table = self.table()
        rows = "".join(
            f"<tr><td>{escape(state.label)}<td>{state.crossings}<td>"
            f"{escape(', '.join(sorted({' / '.join(pair.bodies) for pair in state.pairs})))}"
            f"<td>{'' if state.path is None else 'free' if state.path else 'collides'}"
            for state in [state for state in self.states if not state.ok][:SHOWN]
        )
        near = "farther than a fifth of an edge" if self.distance is None else f"{self.distance:.3g} m"
        checked = table["checked"]
        failing = (
            "<table><tr><th>state<th>edges through triangles<th>bodies<th>way from the state before</tr>"
            f"{rows}</table>"
        )
        versions = ", ".join(f"{name} {number}" for name, number in table["versions"].items())
        return (
            "<!doctype html><html lang=en><meta charset=utf-8>"
            "<meta name=viewport content='width=device-width'><title>Audit of intersections</title>"
            "<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:48rem;"
            "margin:2rem auto;padding:0 1rem}td,th{text-align:left;padding:.2rem .8rem .2rem 0}"
            "code{word-break:break-all}</style>"
            f"<h1>{escape(self.subject)}: {escape(str(table['verdict']))}</h1>"
            f"<p>{checked['states']} states and {checked['paths']} ways between them were audited "
            f"({escape(self.surface)} surfaces): {escape(str(checked['means']))}.</p>"
            f"<p>Smallest distance between bodies: {near}. States with an intersection: "
            f"{table['failing_states']}.</p>"
            + failing
            * bool(rows)
            + f"<p>SHA-256 of the audited geometry: <code>{table['sha256']}</code></p>"
            f"<p>{escape(versions)}</p></html>"
        )

    def write(self, folder: Path) -> tuple[Path, Path]:
        """Write ``certificate.json`` and ``certificate.html`` into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        places = folder / "certificate.json", folder / "certificate.html"
        places[0].write_text(json.dumps(self.table(), indent=1) + "\n", encoding="utf-8")
        places[1].write_text(self.page(), encoding="utf-8")
        return places


def certify(
    path: str | Path,
    surface: str = "simulated",
    paths: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> Certificate:
    """Audit every state of a run folder, a USD or VTKHDF file, or a sequence of meshes; see ``frames_of``.

    paths: also the ways between states: those that a run recorded (``record.paths``), move by move; else the
    straight ones, though a simulation may have taken a curved way there.
    """
    import_ipctk()
    place, found = Path(path), list[StateAudit]()
    before: SurfaceFrame | None = None
    count, frames = frames_of(place, surface, paths)
    for frame in frames:
        found.append(audit_state(frame, before if paths else None))
        before = frame
        if progress is not None:
            progress(len(found), count)
    if not found:
        raise InputError(f"{place} holds no states to audit.")
    return Certificate(place.name, surface if place.is_dir() else "given", paths, tuple(found))
