"""What a person writes: frozen models of the stack files. No clock, no cloud, no Pulumi."""
