"""Runs on disk: written frame by frame, readable meanwhile, resumable after a kill.

A run folder ``NAME.pliant/`` is a Zarr v3 group::

    zarr.json               attributes: format "pliant-run", schema
    manifest.json           versions, machine, input hashes, seed, partitions, step and why, bodies, ...
    scene.toml              the scene as run
    log.txt                 what the run said
    progress.json           frames_done, state, message, wall [s], cpu [s]; replaced after every frame
    topology/VERSION/       attribute first_frame; one group per body, numbered, with its name, rows, model
                            and material tables, and the arrays of its structure and carried surface
    frames/VERSION/         positions (frames_total, n, 3) [m], velocities [m/s] where asked,
                            memory.BODY.KEY: a model's history; one chunk, and so one file, per frame
    series/frame            (frames_total, columns), a row per frame; names in the attribute ``columns``
    series/step             (frames_total * steps_per_frame, columns): row block i belongs to the steps that
                            end with frame i; the last row of block 0 is the initial state
    checkpoints/FRAME.npz   everything a restart needs; the last two are kept
    .lock                   held by the process that writes

A frame counts once progress.json says so; whatever a kill leaves behind beyond that is not looked at, and is
overwritten when the run is resumed. NaN in a series means: not written.
"""

from pliant.run.store.frames import Frame
from pliant.run.store.reader import Run, load
from pliant.run.store.series import Series
from pliant.run.store.topology import BodyRecord
from pliant.run.store.writer import RunWriter

__all__ = ["BodyRecord", "Frame", "Run", "RunWriter", "Series", "load"]
