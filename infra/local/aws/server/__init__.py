"""moto as one process that survives being killed: every change is journaled and replayed with the same identifiers."""
