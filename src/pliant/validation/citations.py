"""The papers behind a scene, from the keys that models, integrators, actions and measures declare."""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources

from pliant import __version__
from pliant.materials.constitutive import law_named
from pliant.models import Efg, Fem
from pliant.scene import Scene

TITLE = "pliant: deformable bodies by five published methods"
PLIANT = (
    f"@software{{pliant, author = {{{{The pliant team}}}}, title = {{{TITLE}}}, version = {{{__version__}}}, "
    "year = {2026}, license = {Apache-2.0}}"
)
_CITED = re.compile(r"\[(\w+\d{4}\w?)\]_")


@dataclass
class Citation:
    """A BibTeX entry, and what it is for."""

    key: str
    entry: str
    used: list[str] = field(default_factory=list)


@lru_cache(maxsize=1)
def library() -> dict[str, str]:
    """All entries of references.bib by key; one entry to a line."""
    lines = (resources.files("pliant") / "references.bib").read_text(encoding="utf-8").splitlines()
    return {line.partition("{")[2].partition(",")[0]: line for line in lines if line.startswith("@")}


def citations(scene: Scene) -> list[Citation]:
    """What a scene rests on, each paper once, in the order in which it comes up; pliant itself first."""
    found = {"pliant": Citation("pliant", PLIANT, ["the program"])}
    models = [body.model for body in scene.bodies]
    used = [(f"model {model.kind}", [*model.references, *_cited(model)]) for model in models]
    laws = [law_named(model.law) for model in models if isinstance(model, Fem | Efg)]
    used += [(f"law {law.kind}", [*law.references]) for law in laws]
    used.append((f"integrator {scene.time.integrator.kind}", _cited(scene.time.integrator)))
    used += [(f"action {action.kind}", _cited(action)) for action in scene.actions]
    used += [(f"measure {measure.kind}", _cited(measure)) for measure in scene.measures]
    for words, keys in used:
        for key in (key for key in dict.fromkeys(keys) if key in library()):
            citation = found.setdefault(key, Citation(key, library()[key]))
            if words not in citation.used:
                citation.used.append(words)
    return list(found.values())


def _cited(thing: object) -> list[str]:
    """The keys that the documentation of its class cites."""
    return _CITED.findall(type(thing).__doc__ or "")
