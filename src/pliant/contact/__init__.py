"""Contact between bodies, of whatever models, and of a body with itself."""

from pliant.contact.parameters import Contact, ContactPairSettings

__all__ = ["Contact", "ContactPairSettings"]
