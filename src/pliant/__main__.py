"""``python -m pliant`` is the command line."""

from pliant.cli.main import main

main()
