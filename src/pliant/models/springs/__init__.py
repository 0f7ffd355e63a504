"""Compiled loops over springs in pairs, which ``mass_spring`` and ``elements`` share."""
