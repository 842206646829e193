"""Tandem: SGLang with prefill and decode apart, as infrastructure in code."""
