"""Phyxels ("physics elements"): points that fill a closed surface, each with its share of the volume."""

from pliant.structure.phyxels.sampler import PhyxelSampler, Sampling

__all__ = ["PhyxelSampler", "Sampling"]
