"""The documentation site builds without a warning, and everything in it leads somewhere."""

import json
import re
import runpy
import sys
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import urlopen

import pytest

import pliant as pl

ROOT = Path(__file__).resolve().parents[2]
LOADED = {"script": "src", "img": "src", "link": "href", "source": "src", "video": "src"}


class Page(HTMLParser):
    """Names, links, loaded files and pictures without words of an HTML page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids, self.links, self.loaded, self.silent = set[str](), list[str](), list[str](), list[str]()
        self.feed(text)

    def handle_starttag(self, tag: str, pairs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in pairs}
        self.ids.add(given.get("id", ""))
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in LOADED and LOADED[tag] in given:
            self.loaded.append(given[LOADED[tag]])
        decorates = "thumb" in given.get("src", "")  # beside the title of a notebook
        if tag == "img" and not decorates and not given.get("alt", "").strip():
            self.silent.append(given.get("src", "?"))


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    own = (path for path in site.rglob("*.html") if "_static" not in path.parts)  # there are templates
    found = {path: Page(path.read_text()) for path in own}
    assert len(found) > 60
    return found


def inside(pages: dict[Path, Page], kind: str) -> Iterator[tuple[Path, str, Path, str]]:
    """(page, link, file, anchor) of every link that stays in the site."""
    for path, page in pages.items():
        for link in page.links if kind == "links" else page.loaded:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https", "mailto", "data"):
                continue
            file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            yield path, link, file / "index.html" if file.is_dir() else file, unquote(parts.fragment)


def test_every_link_and_anchor_leads_somewhere(site: Path, pages: dict[Path, Page]) -> None:
    checked, broken = 0, []
    for path, link, file, anchor in inside(pages, "links"):
        checked += 1
        if not file.is_file() or (anchor and file in pages and anchor not in pages[file].ids):
            broken.append(f"{path.relative_to(site)}: {link}")
    assert checked > 3000
    assert not broken


def test_the_site_loads_nothing_from_elsewhere(pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        assert not [link for link in page.loaded if urlsplit(link).scheme in ("http", "https")], path
    assert all(file.is_file() for _, _, file, _ in inside(pages, "loaded"))


def test_pictures_have_words(site: Path, pages: dict[Path, Page]) -> None:
    silent = {str(path.relative_to(site)): page.silent for path, page in pages.items() if page.silent}
    assert not silent


def test_every_public_name_is_in_the_python_reference(site: Path, pages: dict[Path, Page]) -> None:
    known = pages[site / "reference/python.html"].ids
    for name in dir(pl):
        value = getattr(pl, name)
        if isinstance(value, type) or type(value).__name__ == "function":
            assert f"pliant.{value.__name__}" in known, name  # aliases by their present name


def test_signatures_name_the_parameters(site: Path) -> None:
    """Positional ones first, as Python takes them."""
    text = re.sub(r"<[^>]+>|\s", "", (site / "reference/python.html").read_text())
    assert "classpliant.Fix(body=None,select=None," in text
    assert "classpliant.Body(shape=None,mesh=None,edge=None," in text
    assert "(args,kwargs)" not in text


def test_the_schema_has_an_address_with_its_version(site: Path) -> None:
    from pliant.scene.json_schema import scene_schema

    assert json.loads((site / "schema/1/pliant.schema.json").read_text()) == json.loads(
        json.dumps(scene_schema())
    )


def test_it_is_served_to_this_machine_only(site: Path) -> None:
    serving = runpy.run_path(str(ROOT / "docs/make_site.py"))["server"](site, 0)
    assert serving.server_address[0] == "127.0.0.1"
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    try:
        with urlopen(f"http://127.0.0.1:{serving.server_port}/search.html", timeout=10) as answer:
            assert b"searchtools.js" in answer.read()
    finally:
        serving.shutdown()
        serving.server_close()


def test_a_missing_package_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main = runpy.run_path(str(ROOT / "docs/make_site.py"))["main"]
    monkeypatch.setitem(main.__globals__, "find_spec", lambda name: None if name == "sphinx_design" else name)
    monkeypatch.setattr(sys, "argv", ["make_site.py"])
    assert main() == 2
    said = capsys.readouterr().err
    assert "sphinx_design" in said
    assert ".[docs]" in said
