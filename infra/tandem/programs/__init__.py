"""One module a stack kind, each with `build(stack) -> None`: wiring only."""
