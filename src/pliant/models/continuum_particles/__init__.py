"""What the continuum particle models share: the law of a face, the material mapping, tets' damping."""
