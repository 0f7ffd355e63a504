"""Results of a sweep for other tools: an xarray Dataset over parameters and time, and Parquet tables."""

import math
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.core.environment import need
from pliant.core.errors import InputError, MissingExtra
from pliant.core.option_names import option
from pliant.mesh.io.atomic import replacing
from pliant.run.series_units import units_of
from pliant.run.store.json_files import storing

if TYPE_CHECKING:
    from pliant.campaign.sweeps import Sweep

SUFFIXES = (".zarr", ".nc")


def grid_dataset(sweep: "Sweep") -> Any:
    """Every series of a gridded sweep: dimensions are the varied keys and time, units are attributes.

    Points that are not done are NaN. InputError where the points do not form a grid.
    """
    try:
        import xarray
    except ImportError:
        raise MissingExtra("xarray is not installed here.", hint="pip install xarray h5netcdf") from None
    done = sweep.results
    if not done:
        raise InputError(f"{sweep.path} has no point that is done.")
    keys = [key for key in sweep.keys if any(row.get(key) is not None for row in done)]
    axes = {key: _ordered([row[key] for row in sweep.points if key in row]) for key in keys}
    cells = math.prod(len(values) for values in axes.values())
    if cells > 4 * len(sweep.points):
        raise InputError(
            f"{len(sweep.points)} points do not form a grid: their values would give {cells} cells.",
            hint=f"{option('table')} writes the results of any sweep.",
        )
    runs = {row["point"]: sweep.run(row["point"]) for row in done}
    first = next(iter(runs.values()))
    times, units = first.times, units_of(first)
    names = [n for n in first.series if n != "time" and len(first.series[n]) == len(times)]
    shape = (*(len(values) for values in axes.values()), len(times))
    arrays = {name: np.full(shape, np.nan) for name in names}
    for row in done:
        run = runs[row["point"]]
        if len(run.times) != len(times) or not np.allclose(run.times, times):
            raise InputError(
                f"Point {row['point']} has other times than the first one.",
                hint=f"{option('table')} takes any sweep.",
            )
        if lacking := [key for key in keys if row.get(key) is None]:
            raise InputError(
                f"Point {row['point']} has no value of {lacking[0]}: the points do not form a grid.",
                hint=f"{option('table')} writes the results of any sweep.",
            )
        place = tuple(axes[key].index(_plain(row[key])) for key in keys)
        for name in names:
            arrays[name][place] = run.series[name]
    coordinates: dict[str, Any] = {
        key: ((key,), values, {"units": sweep.manifest["keys"][key]["unit"]}) for key, values in axes.items()
    }
    coordinates["time"] = (("time",), times, {"units": "s"})
    variables = {
        name: ((*keys, "time"), values, {"units": units.get(name, "")}) for name, values in arrays.items()
    }
    about = {"sweep": sweep.path.name, "pliant": sweep.manifest["pliant"]}
    return xarray.Dataset(variables, coordinates, about)


def _plain(value: Any) -> Any:
    return value if isinstance(value, (int, float, str)) else str(value)


def _ordered(values: list[Any]) -> list[Any]:
    """Each value once: numbers ascending, others in the order in which they came."""
    once = list(dict.fromkeys(_plain(value) for value in values))
    return sorted(once) if all(isinstance(value, (int, float)) for value in once) else once


def write_grid(sweep: "Sweep", path: Path) -> None:
    """``--xarray``: the Dataset as a Zarr folder or a NetCDF file."""
    if path.suffix not in SUFFIXES:
        raise InputError(f"{option('xarray', path)}: expected a name that ends in .zarr or .nc.")
    found = grid_dataset(sweep)
    if path.suffix == ".nc":
        need("NetCDF", "h5netcdf", extra="dev")
        with replacing(path) as temporary:
            found.to_netcdf(temporary, engine="h5netcdf")
        return
    with warnings.catch_warnings(), storing(path, "try again"):
        warnings.simplefilter("ignore")  # names as coordinates have no specification in Zarr 3 yet
        found.to_zarr(path, mode="w", consolidated=False)


def write_table(sweep: "Sweep", path: Path) -> None:
    """``--table``: the results as a Parquet file (units in its metadata) or as CSV."""
    if path.suffix == ".csv":
        with replacing(path) as temporary:
            temporary.write_bytes((sweep.path / "results.csv").read_bytes())
        return
    if path.suffix != ".parquet":
        raise InputError(f"{option('table', path)}: expected a name that ends in .parquet or .csv.")
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("pyarrow is not installed here.", hint="pip install pyarrow") from None
    rows, units = sweep.results, sweep.units
    fields, columns = [], []
    for name in rows[0] if rows else ():
        values = [row[name] for row in rows]
        if not all(isinstance(value, (int, float, str, type(None))) for value in values):
            values = [str(value) for value in values]
        column = pyarrow.array(values)
        fields.append(pyarrow.field(name, column.type, metadata={"unit": units.get(name, "")}))
        columns.append(column)
    whole = pyarrow.Table.from_arrays(columns, schema=pyarrow.schema(fields))
    with replacing(path) as temporary:
        pyarrow.parquet.write_table(whole, temporary)
