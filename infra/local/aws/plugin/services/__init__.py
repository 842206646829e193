"""Handlers, one file a service. `registry` finds them by their types."""
