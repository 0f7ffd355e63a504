"""Columns of the tables that contact keeps: one row per pair of a vertex or an edge and a body, or of two
bodies."""

# of a pair's history: stretch of the friction spring, last unit normal, overlap that is left alone, phase,
# whether that overlap lasts until the pair parts (faces of a crack), last signed distance
XI, NORMAL, ALLOWED, ACTIVE, KEPT, LAST = 0, 3, 6, 7, 8, 9
HISTORY = 10
TOUCHED, PRESSED = 1.0, 2.0  # of ACTIVE: near enough; pressed at least once, so that it may stick
# of a pair's geometry: signed weights of its four vertices, unit normal, signed distance, and how far along
# the normal the contact point is from the nearest point of the other body
WEIGHT, UNIT, DISTANCE, LEVER = 0, 4, 7, 8
GEOMETRY = 9
# of the law of two bodies
STIFFNESS, DAMPING, FRICTION, REACH, ADHESION = 0, 1, 2, 3, 4
LAW = 5
EDGE_REACH = 0.6  # reach of edges against edges [reach]: flat contact, which vertices carry, has none
