"""Interfaces are few, used, and declared; names are unique."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2] / "src" / "pliant"
TREES = {path: ast.parse(path.read_text()) for path in sorted(ROOT.rglob("*.py"))}
TEXT = {path: path.read_text() for path in TREES}
NOUNS = {
    "damping",
    "embedding",
    "cutting",
    "coupling",
    "mapping",
    "scaling",
    "tuning",
    "editing",
    "sampling",
    "typing",
    "stuffing",
    "encoding",
}
"""Module names in -ing that are nouns of the field."""


def classes() -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = defaultdict(list)
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(path)
    return found


def protocols() -> list[tuple[str, Path, list[str]]]:
    """Name, file and members of every protocol."""
    found = []
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and any("Protocol" in ast.unparse(base) for base in node.bases):
                members = [m.name for m in node.body if isinstance(m, ast.FunctionDef)]
                members += [
                    m.target.id
                    for m in node.body
                    if isinstance(m, ast.AnnAssign) and isinstance(m.target, ast.Name)
                ]
                found.append((node.name, path, members))
    return found


def test_a_class_name_is_unique_in_the_package() -> None:
    twice = {name: paths for name, paths in classes().items() if len(paths) > 1}
    assert not twice


def test_there_are_few_protocols_and_none_is_matched_by_attribute_names() -> None:
    assert len(protocols()) <= 25
    assert not [path for path, text in TEXT.items() if "runtime_checkable" in text]


@pytest.mark.parametrize(("name", "path", "members"), protocols(), ids=[name for name, _, _ in protocols()])
def test_every_member_of_a_protocol_is_used_in_the_package(name: str, path: Path, members: list[str]) -> None:
    """Used: read as an attribute somewhere, beyond where it is defined."""
    for member in members:
        used = any(
            isinstance(node, ast.Attribute) and node.attr == member and isinstance(node.ctx, ast.Load)
            for tree in TREES.values()
            for node in ast.walk(tree)
        )
        assert used, f"nothing calls {name}.{member}"


def test_no_module_is_named_by_a_bare_participle() -> None:
    stems = [path.stem for path in TREES if path.stem.endswith("ing")]
    assert [stem for stem in stems if stem.split("_")[-1] not in NOUNS] == []


def test_every_model_declares_what_it_implements() -> None:
    """A declared interface is complete, and a method of an interface that is not declared is a mistake."""
    from pliant import interfaces
    from pliant.mesh.shapes import box
    from pliant.models import MODELS
    from pliant.scene import Body
    from pliant.simulation.protocol_check import protocol_members

    optional = [
        interfaces.StoredEnergy, interfaces.SectionForce, interfaces.VolumetricTerm, interfaces.StepHook,
        interfaces.IncrementalFlow,
        interfaces.Cuttable, interfaces.Editable, interfaces.SelfStepping, interfaces.ChangingTopology,
        interfaces.Tangent, interfaces.Damped,
    ]  # fmt: skip
    for name in MODELS:
        body = Body(box(0.2, 0.2, 0.2, divisions=(2, 2, 2)), model=name, edge=0.1)
        mechanics = body.model.prepare(body.structure(), body.resolved_material)
        for protocol in optional:
            offered = mechanics.offer(protocol)
            complete = all(hasattr(offered, member) for member in protocol_members(protocol))
            assert complete or offered is None, (name, protocol)


def test_the_loop_does_not_probe_for_attributes() -> None:
    """Runtimes are asked for declared interfaces: no getattr or hasattr in the loop."""
    probing = re.compile(r"\b(?:get|has)attr\(")
    allowed = {"protocol_check.py"}
    found = [
        path.relative_to(ROOT)
        for path, text in TEXT.items()
        if path.relative_to(ROOT).parts[0] in ("simulation", "integrators") and path.name not in allowed
        if probing.search(text)
    ]
    assert not found
