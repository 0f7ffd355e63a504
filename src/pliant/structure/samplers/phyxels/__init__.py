"""Phyxels ("physics elements"): points that fill a closed surface, each with its share of the volume."""

from pliant.structure.samplers.phyxels.sampler import PhyxelSampler, Sampling

__all__ = ["PhyxelSampler", "Sampling"]
