"""Preconditioners of implicit solves: approximate inverses of ``M + h^2 K``."""
