"""Numbers in sentences, and docstrings as plain text."""

import re


def counted(count: int, noun: str) -> str:
    """``1 hole``, ``2 holes``, ``0 vertices``."""
    if count != 1:
        noun = {"vertex": "vertices"}.get(noun, noun + "s")
    return f"{count} {noun}"


def seconds(value: float) -> str:
    """A span of time for people."""
    if value < 0.1:
        return f"{value * 1e3:.3g} ms"
    if value < 120:
        return f"{value:.3g} s"
    return f"{value / 60:.0f} min" if value < 7200 else f"{value / 3600:.1f} h"


def size(count: float) -> str:
    """A number of bytes for people."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"


_SIGNS = {
    "alpha": "α", "beta": "β", "epsilon": "ε", "gamma": "γ", "lambda": "λ", "mu": "μ", "nu": "ν", "pi": "π",
    "rho": "ρ", "sigma": "σ", "sum": "Σ", "cdot": "·", "parallel": "∥", "angle": "∠", "times": "×",
    "le": "≤", "ge": "≥",
}  # fmt: skip


def readable(text: str) -> str:
    """A docstring as text for a terminal: formulas without TeX, names without marks, keys of papers in
    brackets."""

    def formula(found: re.Match[str]) -> str:
        tex = re.sub(r"\\[td]?frac(\d)(\d)", r"\1/\2", found[1])
        tex = re.sub(r"\\[td]?frac\{(\w+)\}\{(\w+)\}", r"\1/\2", tex)
        tex = re.sub(r"\\[td]?frac\{([^}]*)\}\{([^}]*)\}", r"(\1)/(\2)", tex)
        tex = re.sub(r"\\(?:mathrm|text)\{([^}]*)\}", r"\1", re.sub(r"\\[ ,;!]", " ", tex))
        tex = re.sub(r"\\([A-Za-z]+)", lambda name: _SIGNS.get(name[1], name[1]), tex)
        return re.sub(r"\^([23])\b", lambda power: {"2": "²", "3": "³"}[power[1]], tex)

    text = re.sub(r":math:`([^`]*)`", formula, text)
    text = re.sub(r":\w+:`~?(?:[\w.]+\.)?([^`]*)`", r"\1", text)
    return re.sub(r"\[(\w+)\]_", r"[\1]", text).replace("``", "")


def noun_of(name: str) -> str:
    """The words of a class name: "ElasticConstraints" gives "elastic constraints"."""
    return "".join(f" {c.lower()}" if c.isupper() else c for c in name).strip()
