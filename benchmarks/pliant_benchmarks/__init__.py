"""Speed of pliant: cases of ``pliant bench``, performance targets, the machine's limits, and peers."""
