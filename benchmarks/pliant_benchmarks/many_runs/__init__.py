"""Campaigns of many runs, whose figures the pages about sweeps, fits and data sets quote.

``python -m pliant_benchmarks.many_runs fits|unknowns|cluster|samples FOLDER``: each prints its figures; all
but ``cluster``, which wants a new folder, go on where they were interrupted.
"""
