"""Barrier contact: surfaces that are kept apart by a potential and by continuous collision detection."""
