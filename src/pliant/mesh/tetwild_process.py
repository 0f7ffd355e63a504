"""The child process that runs fTetWild: ``python -m pliant.mesh.tetwild_process IN.npz OUT.npz``."""

import importlib
import sys
import types
from pathlib import Path

import numpy as np

from pliant.mesh.deterministic_seed import fix_random_device


def main(source: str, target: str) -> None:
    """Read points, triangles and options; write points, tets and whether the seed could be fixed."""
    try:
        importlib.import_module("pyvista")
    except ImportError:  # pytetwild imports it on loading, but needs it only for functions not used here
        sys.modules["pyvista"] = types.ModuleType("pyvista")
    import pytetwild

    fixed = fix_random_device(Path(pytetwild.pytetwild.PyfTetWildWrapper.__file__))
    with np.load(source) as given:
        points, tets = pytetwild.tetrahedralize(
            given["points"],
            given["triangles"].astype(np.int32),
            edge_length_abs=float(given["edge"]),
            epsilon=float(given["epsilon"]),
            stop_energy=float(given["energy"]),
            coarsen="coarsen" in given,
            num_threads=1,
        )
    np.savez(target, points=points, tets=tets.astype(np.int64), fixed=np.array(fixed))


if __name__ == "__main__":
    main(*sys.argv[1:])
