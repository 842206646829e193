"""First process of a test's private world: a bridge, and commands from standard input, one JSON line each, answered
likewise."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from local import linux

NETWORK = """
link set lo up
link add tandem0 type bridge
address add 10.200.0.1/16 dev tandem0
link set tandem0 up
"""


def answer(request: dict[str, Any]) -> dict[str, Any]:
    if "start" in request:
        with Path(request["log"]).open("ab") as log:
            process = subprocess.Popen(request["start"], stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        return {"pid": process.pid}
    if "kill" in request:
        os.kill(request["kill"], request["signal"])
        return {}
    if "wait" in request:
        return {"status": os.waitpid(request["wait"], 0)[1]}
    if "mount" in request:
        linux.mount("tmpfs", request["mount"], "tmpfs", 0, request["options"])
        return {}
    if "remount" in request:
        linux.mount("none", request["remount"], None, linux.MS_REMOUNT, request["options"])
        return {}
    done = subprocess.run(request["run"], capture_output=True, text=True, check=False)
    return {"code": done.returncode, "out": done.stdout, "err": done.stderr}


def serve() -> None:
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        try:
            reply = answer(json.loads(line))
        except OSError as error:
            reply = {"error": str(error)}
        print(json.dumps(reply), flush=True)


def main() -> None:
    linux.mount("tmpfs", "/run", "tmpfs", 0, "mode=755")
    subprocess.run(["ip", "-batch", "-"], input=NETWORK, text=True, check=True)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    server = os.fork()
    if server == 0:
        serve()
        os._exit(0)
    # As the first process of any system, it lets go of children whose parents have ended.
    while os.wait()[0] != server:
        pass


main()
