"""Columns of the tables that contact keeps: one row per pair of a particle and a body, or of two bodies."""

# of a pair's history: the stick spring's stretch, the last unit normal, an overlap that is let be, its phase
XI, NORMAL, ALLOWED, ACTIVE = 0, 3, 6, 7
HISTORY = 8
TOUCHED, PRESSED = 1.0, 2.0  # of ACTIVE: near enough; pressed at least once, so that it may stick
# of a pair's geometry: weights of the triangle's corners, unit normal, signed distance
WEIGHT, UNIT, DISTANCE = 0, 3, 6
GEOMETRY = 7
# of the law of two bodies
STIFFNESS, DAMPING, FRICTION, REACH, ADHESION = 0, 1, 2, 3, 4
LAW = 5
