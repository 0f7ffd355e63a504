"""Types of the tables of TOML and JSON files, free of NumPy: the help of the command line needs none."""

from collections.abc import Mapping
from typing import Any

Table = dict[str, Any]
"""A table of a TOML or JSON file, or keyword arguments: values by name."""
TableView = Mapping[str, Any]
"""A table that is only read."""
