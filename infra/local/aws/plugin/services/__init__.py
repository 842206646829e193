"""Handlers, one file a service. `registry` says which file holds which type; nothing here is imported before it is needed."""
