"""The resources that programs declare, found by running them against a stand-in for the engine: no engine, no cloud.

`python -m tandem.graph ENV` prints those of an environment. The SDK keeps what is declared in state of the whole process, so
whoever wants a graph runs this as a command.
"""
