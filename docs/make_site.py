"""Build the documentation site and serve it on this machine: make_site.py [--port N] [--quick] [--no-serve].

It needs the extra ``docs``. The pages go to build/site; --quick leaves the notebooks as they are written,
without running them.
"""

import argparse
import subprocess
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent
SITE = HERE.parent / "build/site"
PACKAGES = ("sphinx", "myst_parser", "pydata_sphinx_theme", "sphinx_design", "sphinx_gallery", "matplotlib")


def build(folder: Path, notebooks: bool) -> int:
    """Sphinx's exit code; every warning is an error."""
    switches = ["-b", "html", "-W", "--keep-going", "-n", "-q", "-d", str(folder.parent / "doctrees")]
    chosen = [] if notebooks else ["-D", "plot_gallery=0"]
    return subprocess.call([sys.executable, "-m", "sphinx", *switches, *chosen, str(HERE), str(folder)])


def server(folder: Path, port: int) -> ThreadingHTTPServer:
    """Serves a folder to this machine only."""
    return ThreadingHTTPServer(("127.0.0.1", port), partial(SimpleHTTPRequestHandler, directory=str(folder)))


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the documentation site and serve it.")
    parser.add_argument("--port", type=int, default=8020, help="0: any free one (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="do not run the notebooks")
    parser.add_argument("--no-serve", action="store_true", help="build only")
    parser.add_argument("--to", type=Path, default=SITE, metavar="FOLDER", help="default: build/site")
    given = parser.parse_args()
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        print(f"error: the site needs {', '.join(missing)}. Try: pip install -e '.[docs]'", file=sys.stderr)
        return 2
    folder = given.to.resolve()
    code = build(folder, notebooks=not given.quick)
    if code or given.no_serve:
        return code
    with server(folder, given.port) as serving:
        print(f"the site is at http://127.0.0.1:{serving.server_port}   (Ctrl-C ends it)", flush=True)
        try:
            serving.serve_forever()
        except KeyboardInterrupt:
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
