"""The local stand-in for AWS: a moto server that keeps its state, and a Pulumi provider that speaks to it."""
