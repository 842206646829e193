"""`python -m local.aws.server`: serve moto on HOST:PORT with its state in FOLDER (0001-foundation-contracts.md)."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser(prog="local.aws.server", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=4566, help="0 takes a free one and prints it")
    parser.add_argument("--journal", type=Path, required=True, help="folder of the journal of changes")
    parser.add_argument(
        "--cluster", action="append", default=[], help="REGION=URL: address that its EKS cluster answers with"
    )
    parser.add_argument(
        "--cluster-ca", action="append", default=[], help="REGION=FILE: the certificate authority of that address"
    )
    parser.add_argument("--account", default="123456789012", help="the account it plays")
    parser.add_argument("--hosted-zone", action="append", default=[], help="ID=DOMAIN: a Route 53 zone of the account")
    options = parser.parse_args()
    if os.environ.get("PYTHONHASHSEED") != "0":
        # The order of sets of strings must be the same in every life of the server; it is fixed at interpreter start.
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(sys.executable, [sys.executable, "-m", "local.aws.server", *sys.argv[1:]])

    from local.aws.server.journal import Journal, JournalError
    from local.aws.server.listen import listen
    from local.aws.server.recorded import RecordedStore
    from local.aws.server.world import World

    started = time.monotonic()
    world = World(options.account)
    from local.aws.server import budgets, eks, eks_versions, route53, security_groups, sts
    from local.aws.server.app import LocalAws

    sts.install()
    route53.install(options.account, dict(pair.split("=", 1) for pair in options.hosted_zone))
    authorities = dict(pair.split("=", 1) for pair in options.cluster_ca)
    endpoints = dict(pair.split("=", 1) for pair in options.cluster)
    for addition in (eks_versions, security_groups, budgets):
        addition.install()
    eks.install({region: eks.ControlPlane(url, Path(authorities[region])) for region, url in endpoints.items()})
    app = LocalAws(world, Journal(options.journal), RecordedStore(options.journal.parent / "aws-recorded.json"))
    try:
        server = listen(options.host, options.port, app)
        app.replay()
    except (JournalError, OSError) as error:
        print(f"local.aws.server: {error}", file=sys.stderr, flush=True)
        return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    print(
        f"ready on http://{options.host}:{server.port}, {app.replayed} changes replayed "
        f"in {time.monotonic() - started:.1f} s",
        flush=True,
    )
    server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main())
