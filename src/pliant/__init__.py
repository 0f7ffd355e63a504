"""pliant: a mesh and a material become a deformable body, simulated, shown and measured."""
