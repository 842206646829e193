"""What to deploy: every allowed instance type, engine size, format and batch, for one pool and for prefill and decode apart."""
