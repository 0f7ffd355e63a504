"""Benchmark of the estimates of ``check``: every shipped scene, shortened, beside the time that it takes."""

from pliant_benchmarks.bench import BenchResult, bench

FACTOR = 2.0  # as far as an estimate may be off


@bench("estimates/scenes")
def shipped_scenes() -> list[BenchResult]:
    """How far the estimated CPU time is from the one taken, scene by scene."""
    from pliant.validation.estimates import shipped_estimates

    results = []
    for found in shipped_estimates():
        note = f"{found.duration:g} s: {found.estimate:.2f} CPU s estimated, {found.taken:.2f} taken"
        name, value = f"estimates/{found.scene}", found.factor
        results.append(BenchResult(name, value, "times off", FACTOR, FACTOR / value, None, note))
    return results
