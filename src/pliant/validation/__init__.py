"""Evidence on demand: cases with a known answer, and speed beside the machine's own limit."""
