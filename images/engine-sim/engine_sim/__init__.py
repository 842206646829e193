"""A simulated SGLang engine: the real HTTP API, pair protocol and KV transfer; no model. Everything it answers says so."""

VERSION = "0.5.23"
"""The SGLang release whose behaviour is simulated; reported where the real one reports its version."""
FINGERPRINT = "simulated-engine-sim-1"
"""`system_fingerprint` of every answer, so that no one takes an answer for a model's."""
HEADER = "x-tandem-simulated"
"""Set to `engine` on every response."""
