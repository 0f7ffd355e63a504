"""Pages that stand outside docs/ (design, contributing, changelog), and links to files of the repository."""

import re
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = {  # pages of the site that show a file from outside docs/
    "CONTRIBUTING.md": "developers/contributing",
    "CHANGELOG.md": "developers/changelog",
    "SECURITY.md": "developers/security",
    "VISION.md": "developers/vision",
    "design/architecture.md": "developers/architecture",
    "design/kernels.md": "developers/kernels",
    "design/dependencies.md": "developers/dependencies",
    "design/barrier-contact.md": "developers/barrier-contact",
}
INCLUDE = re.compile(r"^```\{include\} (\.\./\S+)\n```$", re.M)
LINK = re.compile(r"(?<!!)\[([^\]\n]*)\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)")


def include(app: Sphinx, page: str, source: list[str]) -> None:
    """Put included files in, and let links lead to pages of the site where it has them."""
    here = (DOCS / page).parent

    def text(found: re.Match[str]) -> str:
        file = (here / found[1]).resolve()
        return relink(file.read_text(), file.parent)

    source[0] = relink(INCLUDE.sub(text, source[0]), here)


def relink(text: str, folder: Path) -> str:
    """``text``, read from ``folder``, with links into the site; of files that it does not show, the words."""

    def link(found: re.Match[str]) -> str:
        words, path, anchor = found[1], found[2], found[3] or ""
        target = (folder / path).resolve()
        if path.startswith("/") or not target.is_relative_to(ROOT):
            return found[0]
        if target.is_relative_to(DOCS):
            own = target.relative_to(DOCS).as_posix()
            return f"[{words}](/{own}{anchor})" if target.is_file() else found[0]
        shown = PAGES.get(target.relative_to(ROOT).as_posix())
        if shown is not None:
            return f"[{words}](/{shown}.md{anchor})"
        return words if words.startswith("`") else f"{words} (`{target.relative_to(ROOT).as_posix()}`)"

    parts = re.split(r"(^```.*?^```)", text, flags=re.S | re.M)
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)
