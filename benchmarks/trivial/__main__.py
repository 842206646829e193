"""As many resources as asked for that do nothing: the engine's own cost."""

import os

import pulumi

for number in range(int(os.environ["TRIVIAL_RESOURCES"])):
    pulumi.ComponentResource("trivial:index:Nothing", f"nothing-{number}")
