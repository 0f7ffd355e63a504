"""Kept meshes: found again, never trusted when damaged, never in the way."""

import os
from pathlib import Path

import numpy as np
import pytest

from pliant.mesh import cache
from pliant.mesh.mesh import TetMesh

MESH = TetMesh(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]), np.array([[0, 1, 2, 3]]))


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("PLIANT_CACHE_DIR", str(tmp_path))
    return tmp_path / "mesh"


def test_a_stored_mesh_is_found_with_its_notes(folder: Path) -> None:
    assert cache.load("a") is None
    assert cache.store("a", MESH, ["a note"]) is None
    found = cache.load("a")
    assert found is not None
    np.testing.assert_array_equal(found[0].points, MESH.points)
    np.testing.assert_array_equal(found[0].tets, MESH.tets)
    assert found[1] == ["a note"]
    assert [p.name for p in folder.iterdir()] == ["a.npz"]


def test_the_key_follows_every_input() -> None:
    points, triangles = np.zeros((3, 3)), np.array([[0, 1, 2]])
    base = cache.key(points, triangles, {"edge": 1.0})
    assert cache.key(points.copy(), triangles.astype(np.int32), {"edge": 1.0}) == base
    others = [
        cache.key(points + 1e-16, triangles, {"edge": 1.0}),
        cache.key(points, triangles[:, ::-1], {"edge": 1.0}),
        cache.key(points, triangles, {"edge": 2.0}),
        cache.key(points, triangles, {"edge": 1.0, "mesher": "lattice"}),
    ]
    assert len({base, *others}) == 5


@pytest.mark.parametrize("damage", [b"", b"not a zip file", None])
def test_damaged_entries_are_ignored_and_replaced(folder: Path, damage: bytes | None) -> None:
    cache.store("a", MESH, [])
    path = folder / "a.npz"
    path.write_bytes(path.read_bytes()[:200] if damage is None else damage)
    assert cache.load("a") is None
    assert cache.store("a", MESH, []) is None
    assert cache.load("a") is not None


def test_an_entry_with_inverted_tets_is_ignored(folder: Path) -> None:
    cache.store("a", TetMesh(MESH.points, MESH.tets[:, [0, 1, 3, 2]]), [])
    assert (folder / "a.npz").exists()
    assert cache.load("a") is None


def test_a_place_that_cannot_be_written_gives_a_note(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("in the way")
    monkeypatch.setenv("PLIANT_CACHE_DIR", str(file))
    note = cache.store("a", MESH, [])
    assert note is not None
    assert "not kept" in note
    assert cache.load("a") is None


def test_the_oldest_go_first_when_it_is_full(folder: Path) -> None:
    for k, name in enumerate("abc"):
        cache.store(name, MESH, [])
        os.utime(folder / f"{name}.npz", (1000.0 + k, 1000.0 + k))
    cache.load("a")  # used now: no longer the oldest
    size = (folder / "a.npz").stat().st_size
    cache.trim(folder, limit=2 * size)
    assert sorted(p.stem for p in folder.glob("*.npz")) == ["a", "c"]


def test_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PLIANT_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.folder() == tmp_path / "pliant" / "mesh"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache.folder() == tmp_path / "home" / ".cache" / "pliant" / "mesh"
