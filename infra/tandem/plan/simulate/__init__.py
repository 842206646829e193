"""Discrete events: what the closed forms leave out - queues, bursts, KV limits, failures."""
