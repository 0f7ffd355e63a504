"""Arithmetic on named series and numbers, without evaluating Python: what ``--reduce`` and ``--match`` take.

``last(tip.z)``, ``max(abs(grip.x)) / 2``, ``at(tip.z, 0.5)``. Names with a dash or other signs are quoted:
``last('plate-2.x')``. Units are SI.
"""

import ast
import operator
from collections.abc import Callable, Mapping

import numpy as np

from pliant.core.errors import InputError
from pliant.core.registry import nearest
from pliant.core.typing import Array

Value = float | Array
"""A number, or an array of a value per frame."""
_BINARY: dict[type, Callable[[Value, Value], Value]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: np.true_divide,
    ast.Pow: lambda a, b: np.power(np.asarray(a, float), b),
}
_UNARY: dict[type, Callable[[Value], Value]] = {ast.USub: lambda a: -a, ast.UAdd: lambda a: a}
_PLAIN: dict[str, Callable[[Value], Value]] = {
    "abs": np.abs, "sqrt": np.sqrt, "exp": np.exp, "log": np.log, "sin": np.sin, "cos": np.cos,
}  # fmt: skip
LONGEST = 1000  # characters


class Expression:
    """A formula over series; ``names`` are the series and parameters that it mentions."""

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            if len(text) > LONGEST:
                raise InputError(f"{text[:40]}...: a formula of more than {LONGEST} characters.")
            self._tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError):
            raise InputError(
                f"'{text}' is not a formula.", hint="For example last(tip.z) or max(grip.x) / 2"
            ) from None
        self.names: list[str] = []
        self._check(self._tree)

    def evaluate(self, series: Mapping[str, Value], times: Callable[[str], Array] | None = None) -> Value:
        """The value where names mean ``series``; ``times`` gives the times [s] of a series."""
        return _Evaluation(self.text, series, times).value(self._tree)

    def number(self, series: Mapping[str, Value], times: Callable[[str], Array] | None = None) -> float:
        """The value as one number; InputError where it is a whole series."""
        value = np.asarray(self.evaluate(series, times), float)
        if value.ndim:
            raise InputError(
                f"'{self.text}' is a whole series, not a number.", hint=f"For example last({self.text})"
            )
        return float(value)

    def _check(self, node: ast.AST) -> None:
        """InputError for anything that is not arithmetic on names and numbers."""
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str)):
            if isinstance(node.value, str):
                self.names.append(node.value)
        elif isinstance(node, (ast.Name, ast.Attribute)):
            self.names.append(_dotted(node, self.text))
        elif isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            self._check(node.left)
            self._check(node.right)
        elif isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
            self._check(node.operand)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            known = [*_PLAIN, *REDUCTIONS, "at"]
            if node.func.id not in known:
                raise InputError(
                    f"'{self.text}': no function '{node.func.id}'; {nearest(node.func.id, known)}"
                )
            wanted = 2 if node.func.id == "at" else 1
            if len(node.args) != wanted:
                raise InputError(f"'{self.text}': {node.func.id} takes {wanted} values.")
            for argument in node.args:
                self._check(argument)
        else:
            raise InputError(
                f"'{self.text}' is more than arithmetic: '{ast.unparse(node)}'.",
                hint="Names of series, numbers, + - * / **, and functions such as last, min, max, mean, at.",
            )


class _Evaluation:
    """Values of the parts of one formula; each series part remembers its times, for ``at``."""

    def __init__(self, text: str, series: Mapping[str, Value], times: Callable[[str], Array] | None) -> None:
        self.text, self.series, self.times = text, series, times

    def value(self, node: ast.AST) -> Value:
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return node.value
        if isinstance(node, (ast.Constant, ast.Name, ast.Attribute)):
            return self._named(
                str(node.value) if isinstance(node, ast.Constant) else _dotted(node, self.text)
            )
        if isinstance(node, ast.BinOp):
            left, right = self.value(node.left), self.value(node.right)
            if np.ndim(left) and np.ndim(right) and np.size(left) != np.size(right):
                raise InputError(f"'{self.text}': one series is per frame, the other per step.")
            with np.errstate(all="ignore"):
                return _BINARY[type(node.op)](left, right)
        if isinstance(node, ast.UnaryOp):
            return _UNARY[type(node.op)](self.value(node.operand))
        assert isinstance(node, ast.Call)
        assert isinstance(node.func, ast.Name)
        inner = self.value(node.args[0])
        if node.func.id in _PLAIN:
            with np.errstate(all="ignore"):
                return _PLAIN[node.func.id](inner)
        if node.func.id == "at":
            return self._at(inner, node)
        return REDUCTIONS[node.func.id](np.atleast_1d(np.asarray(inner, float)))

    def _named(self, name: str) -> Value:
        if name not in self.series:
            raise InputError(f"There is no series '{name}'; {nearest(name, list(self.series))}")
        value = self.series[name]
        return np.asarray(value, float) if np.ndim(value) else value

    def _at(self, inner: Value, node: ast.Call) -> float:
        """The series at a time, linear between its values."""
        moment = float(self.value(node.args[1]))
        named = [_dotted(part, self.text) for part in ast.walk(node.args[0]) if _is_name(part)]
        times = self.times(named[0]) if self.times is not None and named else np.empty(0)
        if not len(times) or len(times) != len(np.atleast_1d(inner)):
            raise InputError(f"'{self.text}': at takes a series and a time.")
        if not times[0] <= moment <= times[-1] * (1.0 + 1e-9):
            raise InputError(f"'{self.text}': the series ends at {times[-1]:g} s.")
        return float(np.interp(moment, times, np.asarray(inner, float)))


def _mean(values: Array) -> float:
    return float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")


REDUCTIONS: dict[str, Callable[[Array], float]] = {
    "last": lambda values: float(values[-1]) if len(values) else float("nan"),
    "first": lambda values: float(values[0]) if len(values) else float("nan"),
    "min": lambda values: float(np.nanmin(values)) if np.isfinite(values).any() else float("nan"),
    "max": lambda values: float(np.nanmax(values)) if np.isfinite(values).any() else float("nan"),
    "mean": _mean,
}
"""From a series to one number; values that were not written (NaN) do not count."""


def _is_name(node: ast.AST) -> bool:
    string = isinstance(node, ast.Constant) and isinstance(node.value, str)
    inner = isinstance(node, ast.Name) and node.id not in (*_PLAIN, *REDUCTIONS, "at")
    return string or inner or isinstance(node, ast.Attribute)


def _dotted(node: ast.AST, text: str) -> str:
    """``tip.z`` of attributes of a name."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value, text)}.{node.attr}"
    raise InputError(f"'{text}' is more than arithmetic: '{ast.unparse(node)}'.")
