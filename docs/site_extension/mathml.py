"""Formulas as MathML, which browsers draw by themselves: the site needs no script from elsewhere."""

import re
from html import escape

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

LOG = logging.getLogger(__name__)
ARGUMENT = r"\s*(\\[A-Za-z]+|[^\s{}\\])"
FRACTION = re.compile(rf"\\([td]?frac){ARGUMENT}{ARGUMENT}")


def add_renderer(app: Sphinx) -> None:
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))


def _inline(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(_mathml(node, node.astext(), False))
    raise nodes.SkipNode


def _block(writer: HTML5Translator, node: nodes.math_block) -> None:
    text = node.astext()
    if "\\\\" in text and "\\begin" not in text:
        text = rf"\begin{{aligned}} {text} \end{{aligned}}"
    writer.body.append(f'<div class="math">{_mathml(node, text, True)}</div>')
    raise nodes.SkipNode


def braced(text: str) -> str:
    """``\\tfrac12`` as ``\\tfrac{1}{2}``: the converter reads numbers as a whole."""
    return FRACTION.sub(
        lambda found: f"\\{found[1]}{{{found[2].strip('{}')}}}{{{found[3].strip('{}')}}}", text
    )


def _mathml(node: nodes.Node, text: str, block: bool) -> str:
    try:
        return str(tex2mathml(braced(text), as_block=block))
    except MathError as problem:
        LOG.warning("formula %r: %s", text, problem, location=node)
        return f"<code>{escape(text)}</code>"
