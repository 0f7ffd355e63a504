"""Many runs of one scene: points, where they run, what they came to.

A sweep folder ``NAME.sweep/`` holds::

    points.csv      every point, before the first one runs: number, run, and the value of each varied key
    runs/HASH/      an ordinary run folder for each point, named by the hash of its resolved scene
    results.csv     the points that are done, with reductions of their series
    failures.csv    those that are not going to be: why, and the last good frame
    sweep.json      scene, reductions, versions
    scene.toml      the scene that is varied; scenes/HASH.toml those of points that are not done
"""

from pliant.campaign.sweeps import Sweep, open_sweep, sweep

__all__ = ["Sweep", "open_sweep", "sweep"]
