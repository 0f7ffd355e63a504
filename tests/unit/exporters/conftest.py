"""Runs to export come from the tests of recording."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "recording"))
