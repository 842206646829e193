"""The small files that a toolchain holds beside its binaries: launchers of what is written in Python."""

from __future__ import annotations

import shlex

LANGUAGE_HOST = """#!/bin/sh
# Starts Tandem's Python language host. The engine runs this; it is not for people.
python=${{TANDEM_PYTHON:-{python}}}
if ! command -v "$python" > /dev/null; then
    echo "pulumi-language-python: $python is not there - the language host needs a Python with pulumi." \\
        'Run: eval "$(tandem env ENVIRONMENT)", or make toolchain' >&2
    exit 1
fi
exec "$python" "${{0%/*}}/../lib" "$@"
"""

AWS_PLUGIN = """#!/bin/sh
# Starts the local stand-in of the aws provider from the checkout that is in use.
# A real account needs the official plugin.
if [ -z "${TANDEM_PYTHON:-}" ] || [ -z "${TANDEM_INFRA:-}" ]; then
    echo 'pulumi-resource-aws: TANDEM_PYTHON and TANDEM_INFRA are not set - this is the local' \\
        'stand-in, which runs from a checkout. Run: eval "$(tandem env ENVIRONMENT)"' >&2
    exit 1
fi
PYTHONPATH=$TANDEM_INFRA
export PYTHONPATH
exec "$TANDEM_PYTHON" -m local.aws.plugin "$@"
"""

LIBRARY_MAIN = """\"\"\"Entry point of the language host that the build copied here.\"\"\"

from toolchain.language_host.__main__ import main

main()
"""


def language_host(python: str) -> str:
    """Launcher of the language host; `python` is used where $TANDEM_PYTHON is not set."""
    return LANGUAGE_HOST.format(python=shlex.quote(python))
