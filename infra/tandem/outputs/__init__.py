"""Layer outputs; see design.md 2."""
