"""Fracture and cutting, for models on tets, phyxels and lattices alike.

Surfaces (``surface_cut``), for any model that carries a closed triangle surface:

    cut = cut_surface(surface, sheet_points, sheet_triangles)

cuts ``surface`` along a crack made of triangles, in rest coordinates, and closes both faces. The sheet may
end inside (a crack's front), branch, and stick out of the surface, where it is clipped; cut the *original*
surface along *all* crack triangles so far, not the last result again. ``cut.surface`` is closed and keeps UVs
and groups; new faces are its group ``crack``. ``cut.piece`` tells pieces apart. Points on both faces of a
crack are at the same place: ``cut.inward`` leads from each into its own material, so look for whatever
carries a point at ``point + small * inward``.
"""

from pliant.fracture.surface_cut import GROUP, CutSurface, cut_surface

__all__ = ["GROUP", "CutSurface", "cut_surface"]
