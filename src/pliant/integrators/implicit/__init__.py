"""Implicit integrators: schemes, and the solver behind them. Only ``schemes`` is light to import."""
