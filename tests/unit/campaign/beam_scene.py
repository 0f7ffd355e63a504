"""A small scene that sweeps and data sets vary."""

SCENE = """
schema = 1
title = "Beam"
[time]
duration = 0.1
fps = 50
step = 0.001
integrator = "leapfrog"
[[bodies]]
name = "beam"
shape = { box = { size = [1.0, 0.2, 0.2], divisions = [5, 1, 1] } }
model = "fem"
material = { young = "1 MPa", poisson = 0.3, density = 1000 }
[[actions]]
type = "gravity"
[[actions]]
type = "fix"
select = { body = "beam", plane = { axis = "x", at = "min" } }
[[measures]]
type = "probe"
name = "tip"
select = { body = "beam", plane = { axis = "x", at = "max" } }
what = "displacement"
"""
