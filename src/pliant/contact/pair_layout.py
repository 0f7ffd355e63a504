"""Columns of the tables that contact keeps: one row per pair of a vertex or an edge and a body, or of two
bodies."""

# of a pair's history: stretch of the friction spring, last unit normal, overlap that is left alone, phase,
# whether that overlap lasts until the pair parts (SIDED: faces of a crack, which keep their side) or until it
# opens (FRESH: thick surfaces beside a crack, which have no side), last signed distance
XI, NORMAL, ALLOWED, ACTIVE, KEPT, LAST = 0, 3, 6, 7, 8, 9
HISTORY = 10
SIDED, FRESH = 1.0, 2.0  # of KEPT
TOUCHED, PRESSED = 1.0, 2.0  # of ACTIVE: near enough; pressed at least once, so that it may stick
# of a pair's geometry: signed weights of its four vertices, unit normal, signed distance, how far along
# the normal the contact point is from the nearest point of the other body, and whether neither side can take
# the torque of friction
WEIGHT, UNIT, DISTANCE, LEVER, SLIPPERY = 0, 4, 7, 8, 9
GEOMETRY = 10
# of the law of two bodies
STIFFNESS, DAMPING, FRICTION, REACH, ADHESION = 0, 1, 2, 3, 4
LAW = 5
EDGE_REACH = 0.6  # reach of edges against edges [reach]: flat contact, which vertices carry, has none
