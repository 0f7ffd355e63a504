"""``python -m pliant.cli``."""

from pliant.cli.main import main

main()
