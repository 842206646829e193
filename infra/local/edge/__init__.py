"""A simulated Application Load Balancer and the controller that binds pods to its target groups."""
