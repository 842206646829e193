"""Layer facts; see design.md 2."""
