"""The child process that runs TetGen: ``python -m pliant.mesh.tetgen_process IN.npz OUT.npz``."""

import sys

import numpy as np


def main(source: str, target: str) -> None:
    """Read points, triangles and switches; write points and tets."""
    import tetgen

    with np.load(source) as given:
        mesher = tetgen.TetGen(given["points"], given["triangles"].astype(np.int32))
        mesher.tetrahedralize(switches=str(given["switches"]))
    np.savez(target, points=mesher.node, tets=np.asarray(mesher.elem)[:, :4].astype(np.int64))


if __name__ == "__main__":
    main(*sys.argv[1:])
