"""The stand-in for Pulumi's aws provider: the provider protocol on one side, a local AWS endpoint on the other."""
