"""Layer plan; see design.md 2."""
