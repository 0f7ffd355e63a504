"""Contact between bodies, of whatever models, and of a body with itself."""

from pliant.contact.contact import Contact, Pair

__all__ = ["Contact", "Pair"]
