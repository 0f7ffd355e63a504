"""Say which scenes differ between two results of ``run.py``, from which frame on and by how much.

    python tests/agreement/record/compare.py OLD.json NEW.json [--all]

The exit code is 1 where anything differs. ``--all`` lists every number that differs, not only the largest.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MOST = 4  # numbers that are listed for a scene


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Which of a scene's hashes, and what else of it, is not the same."""
    found = [] if old["state"] == new["state"] else [f"state {old['state']} -> {new['state']}"]
    kinds = sorted({*old["hashes"], *new["hashes"]})
    changed = [kind for kind in kinds if old["hashes"].get(kind) != new["hashes"].get(kind)]
    return found + ([", ".join(changed)] if changed else [])


def first_difference(old: dict[str, Any], new: dict[str, Any]) -> str:
    """From which frame on positions or velocities differ."""
    a, b = old["frames"], new["frames"]
    for number, pair in enumerate(zip(a, b, strict=False)):
        if pair[0] != pair[1]:
            return f"from frame {number} of {len(a)} on"
    return "" if len(a) == len(b) else f"{len(a)} frames -> {len(b)}"


def number_changes(old: dict[str, float], new: dict[str, float]) -> Iterator[tuple[float, str, str]]:
    """(how much, name, words) of each number that differs; how much is relative, see ``relative``."""
    for name in sorted({*old, *new}):
        a, b = old.get(name), new.get(name)
        if a is None or b is None:
            yield float("inf"), name, f"{a} -> {b}"
        elif a != b:
            size = relative(name, a, b, old)
            yield size, name, f"{a:.9g} -> {b:.9g} ({size:.1e})"


def relative(name: str, a: float, b: float, numbers: dict[str, float]) -> float:
    """The difference of a number over its scale: itself, the largest value its series takes, or for places
    the extent of all bodies; energies are compared with the largest of them."""
    scale = max(abs(a), abs(b))
    stem = name.removesuffix(".last").removesuffix(".first")
    scale = max(scale, abs(numbers.get(f"{stem}.size", 0.0)))
    family = name.split(".", maxsplit=1)[0]
    if family in ("energy", "momentum", "angular"):
        sizes = [v for k, v in numbers.items() if k.startswith(f"{family}.") and k.endswith(".size")]
        scale = max([scale, *map(abs, sizes)])
    elif family in ("min", "max") or ".centre." in name:
        scale = max([scale, *(numbers.get(f"max.{k}", 0.0) - numbers.get(f"min.{k}", 0.0) for k in "xyz")])
    elif name[-2:] in (".x", ".y", ".z") or stem[-2:] in (".x", ".y", ".z"):
        sizes = [abs(numbers.get(f"{stem[:-1]}{k}.size", 0.0)) for k in "xyz"]
        scale = max([scale, *sizes])
    return abs(a - b) / scale if scale else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--all", action="store_true")
    given = parser.parse_args()
    old, new = (json.loads(path.read_text(encoding="utf-8")) for path in (given.old, given.new))
    for key in sorted({*old["machine"], *new["machine"]}):
        if old["machine"].get(key) != new["machine"].get(key):
            print(f"{key}: {old['machine'].get(key)} -> {new['machine'].get(key)}")
    same, differ = 0, 0
    for name in {**old["scenes"], **new["scenes"]}:
        if name not in old["scenes"] or name not in new["scenes"]:
            print(f"{name}: only in {'NEW' if name in new['scenes'] else 'OLD'}")
            continue
        a, b = old["scenes"][name], new["scenes"][name]
        found = differences(a, b)
        if not found:
            same += 1
            continue
        differ += 1
        print(f"{name}: {'; '.join(filter(None, [*found, first_difference(a, b)]))}")
        changes = sorted(number_changes(a["numbers"], b["numbers"]), reverse=True)
        for _, key, words in changes if given.all else changes[:MOST]:
            print(f"    {key}: {words}")
        if len(changes) > MOST and not given.all:
            print(f"    and {len(changes) - MOST} more numbers")
    print(f"{same} scenes are the same, {differ} differ")
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
