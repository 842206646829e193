"""Layer components; see design.md 2."""
