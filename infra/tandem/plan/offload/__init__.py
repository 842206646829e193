"""Sending long prompts' prefill to another site: when it pays, above which length, and what each request does."""
