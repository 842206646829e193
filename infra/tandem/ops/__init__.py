"""Layer ops; see design.md 2."""
