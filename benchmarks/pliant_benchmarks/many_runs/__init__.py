"""Campaigns of many runs, whose figures the pages about sweeps, fits and data sets quote.

``python -m pliant_benchmarks.many_runs fits|unknowns|cluster|samples FOLDER``: each goes on where it was
interrupted, and prints its figures.
"""
