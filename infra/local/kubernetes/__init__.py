"""Kubernetes of the local cloud: its control plane, and one kubelet for each instance of each node group."""
