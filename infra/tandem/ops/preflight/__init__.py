"""Whether an AWS account is ready for an environment, before anything is made there. Reads only."""
