"""Mesh files from the page: limited in size, kept under a new name, read in a child process."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path, PurePosixPath

from pliant.core.environment import environment
from pliant.core.errors import InputError, MeshError
from pliant.core.tables import Table
from pliant.studio.workspace import MESHES, Workspace

LARGEST = 200 * 1024**2  # bytes
SECONDS = 120.0  # for reading and looking over a mesh


async def receive(data: AsyncIterator[bytes], name: str, workspace: Workspace) -> tuple[str, Table]:
    """Keep an upload in the workspace; its name there and its health report. A bad file leaves nothing."""
    given = PurePosixPath(name.replace("\\", "/")).name
    suffix = Path(given).suffix.lower()
    if suffix not in MESHES:
        raise InputError(f"'{given[:60]}' is no mesh file.", hint=f"Known: {', '.join(MESHES)}")
    kept = workspace.free_name(Path(given).stem, suffix)
    path = workspace.place(kept, MESHES)
    done = False
    try:
        size = 0
        with path.open("xb") as file:
            async for chunk in data:
                size += len(chunk)
                if size > LARGEST:
                    raise InputError(f"The file is larger than {LARGEST // 1024**2} MB.")
                file.write(chunk)
        if not size:
            raise InputError(f"'{given[:60]}' is empty.")
        report = await look_over(path)
        done = True
        return kept, report
    finally:
        if not done:
            path.unlink(missing_ok=True)


async def look_over(path: Path) -> Table:
    """The health report of a mesh file, made by a child process; MeshError where it cannot be read."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "pliant.studio.mesh_report_process", os.fspath(path),
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        env=environment(),
    )  # fmt: skip
    try:
        output, _ = await asyncio.wait_for(process.communicate(), SECONDS)
    except TimeoutError:
        raise MeshError(f"'{path.name}' takes too long to read.", hint="Simplify the mesh first.") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    try:
        report: Table = json.loads(output)
    except ValueError:
        raise MeshError(
            f"'{path.name}' could not be read: the reader crashed.", hint="Is the file damaged?"
        ) from None
    if "error" in report:
        told = str(report["error"]).replace(os.fspath(path), path.name)
        raise MeshError(f"The file could not be read: {told}", hint=report.get("hint"))
    return report
