"""Meshes: points and cells, shapes, readers and writers, health, fill, quality. Knows no physics."""
