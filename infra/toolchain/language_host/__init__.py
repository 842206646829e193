"""The Python language host: the process by which the Pulumi engine runs Python programs and policy packs."""
