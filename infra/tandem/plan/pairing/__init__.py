"""Whether two checkpoints can share KV, derived from their own files and the engines' arguments."""
