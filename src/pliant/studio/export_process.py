"""``python -m pliant.studio.export_process``: draws or exports a run in a process of its own.

Reads {"run", "out", "kind", "options"} as JSON from stdin, and writes a line of JSON to stdout for every
picture or file that is done, and for the files or the error at the end.
"""

import json
import sys
import zipfile
from pathlib import Path
from typing import Any

from pliant.core.errors import PliantError
from pliant.core.tables import Table


def say(**values: Any) -> None:
    print(json.dumps(values), flush=True)


def main() -> None:
    asked: Table = json.load(sys.stdin)
    out, options = Path(asked["out"]), asked["options"]

    def progress(done: int, total: int) -> None:
        say(done=done, total=total)

    try:
        from pliant.run.store import load

        run = load(asked["run"])
        if asked["kind"] == "render":
            from pliant.render import render

            files = [render(run, out, progress=progress, **options)]
        else:
            from pliant.exporters import export

            files = export(run, out, progress=progress, **options)
        say(file=str(_one_file(files)))
    except PliantError as error:
        say(error=error.message, hint=error.hint)


def _one_file(files: list[Path]) -> Path:
    """The only file, or all of them in a ZIP file."""
    if len(files) == 1:
        return files[0]
    packed = files[0].with_suffix(".zip")
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for file in files:
            archive.write(file, file.name)
            file.unlink()
    return packed


if __name__ == "__main__":
    main()
