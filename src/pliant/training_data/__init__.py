"""Sweeps as training data, in the layout of MeshGraphNets-style sets [Pfaff2021]_, and a loader.

A data set ``NAME.dataset/`` holds::

    data.zarr/ or data.h5   a group for each sample, SPLIT/HASH, with the arrays of ``sample.py``
    index.json              samples by split, parameters, layout
    card.md                 what it is, how it was made, licence, how to rebuild it
    study.sweep/            the sweep that it was made from
"""

from pliant.training_data.dataset import Dataset, dataset
from pliant.training_data.loader import Samples

__all__ = ["Dataset", "Samples", "dataset"]
