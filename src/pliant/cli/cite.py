"""``pliant cite``: the papers behind the methods that a scene uses."""

from pliant.cli import options
from pliant.cli.output import say, say_json

EXAMPLES = (
    "pliant cite beam.toml",
    "pliant cite beam.toml --model fem > beam.bib",
    "pliant cite beam.toml --json",
)


def command(
    scene: options.SceneFile,
    model: options.Model = None,
    integrator: options.Integrator = None,
    set_: options.Set = None,
    json: options.Json = False,
) -> None:
    """Print BibTeX entries for what a scene or run uses: models, integrator, actions, and pliant."""
    from pliant.validation.citations import citations

    if scene.is_dir():  # a run folder: the scene it was made from
        scene = scene / "scene.toml"
    found = citations(options.read_scene(scene, model, integrator, changes=set_))
    if json:
        say_json([{"key": c.key, "for": c.used, "bibtex": c.entry} for c in found])
        return
    for citation in found:
        say(f"% {', '.join(citation.used)}")
        say(citation.entry)
        say()
