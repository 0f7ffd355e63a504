"""Opening the page in a browser without putting its token on a command line, where others could read it."""

import html
import webbrowser
from pathlib import Path

from pliant.studio.temporary import temporary_folder

PAGE = """<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}"><title>pliant studio</title>
<p><a href="{address}">pliant studio</a></p>
"""


def open_page(address: str) -> Path:
    """Open ``address`` by way of a file that only this user can read; gives that file."""
    path = temporary_folder("open") / "studio.html"
    path.touch(mode=0o600)
    path.write_text(PAGE.format(address=html.escape(address)), encoding="utf-8")
    webbrowser.open(path.as_uri())
    return path
