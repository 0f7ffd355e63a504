"""``pliant doctor``: what works on this machine."""

from pliant.cli import options
from pliant.cli.output import say, say_json

EXAMPLES = ("pliant doctor", "pliant doctor --json")


def command(json: options.Json = False) -> None:
    """Say what works here: versions, threads, meshers, graphics, cache, disk."""
    from pliant.cli.doctor_checks import findings

    found = findings()
    if json:
        say_json(found)
        return
    width = max(len(entry["name"]) for entry in found)
    marks = {True: "ok", False: "NO", None: "--"}
    for entry in found:
        say(f"{marks[entry['ok']]}  {entry['name']:<{width}}  {entry['detail']}".rstrip())
    if any(entry["ok"] is False for entry in found):
        say("NO: something that pliant needs is missing. --: optional.")
