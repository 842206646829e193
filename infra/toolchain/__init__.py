"""How the engine, its plugins and the Kubernetes binaries are obtained: built from Go modules, pinned by go.sum."""
