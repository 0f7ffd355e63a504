"""Pictures, movies and graphs."""
