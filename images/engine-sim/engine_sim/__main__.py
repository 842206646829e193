"""`python -m engine_sim <SGLang's flags>`."""

from __future__ import annotations

import asyncio
import signal
import sys

import uvloop
from aiohttp import web

from engine_sim import VERSION, arguments, faults, log, pair, profile, settings, shape
from engine_sim.api import Api
from engine_sim.engine import Engine
from engine_sim.metrics import Metrics
from engine_sim.transfer import TransferUnavailable

DRAIN_LOOK_SECONDS = 5.0
"""The real one looks this often whether its last request is done; it never gives up by itself."""


async def serve(given: arguments.Arguments, chosen: settings.Settings) -> None:
    """Serves until SIGTERM and the end of the last request."""
    log.set_up()
    switched = faults.Faults()
    for spec in chosen.faults:
        switched.set(spec)
    found = shape.find(given.model_path, given.served_model_name, chosen.shape)
    timing = profile.load(
        chosen.profile,
        model=given.served_model_name,
        gpu=chosen.gpu,
        quantization=chosen.scheme or given.quantization,
        role=given.engine_type,
    )
    labels = {
        "model_name": given.served_model_name,
        "engine_type": given.engine_type,
        "tp_rank": "0",
        "pp_rank": "0",
        "moe_ep_rank": "0",
        "dp_rank": "0",
        **given.metric_labels,
    }
    print(
        f"SIMULATED SGLang {VERSION}: no model is computed. Shape: {found.source}. Times: {timing.source}", flush=True
    )
    engine = Engine(given, chosen, found, timing, switched, Metrics(labels))
    await engine.start()
    await asyncio.sleep(timing.weights_seconds / chosen.speed)
    api = Api(engine)
    runners = [web.AppRunner(api.application(), access_log=None, handler_cancellation=True, shutdown_timeout=1)]
    ports = [given.port]
    if given.mode == "prefill":
        runners.append(
            web.AppRunner(pair.bootstrap_application(*engine.bootstrap_info()), access_log=None, shutdown_timeout=1)
        )
        ports.append(given.bootstrap_port)
    for runner, port in zip(runners, ports, strict=True):
        await runner.setup()
        await web.TCPSite(runner, given.host, port).start()
    await asyncio.sleep(timing.warmup_seconds / chosen.speed)
    api.state = "Up"
    print("The server is fired up and ready to roll!", flush=True)
    await _drained(engine)
    for runner in runners:
        await runner.cleanup()
    await engine.close()


async def _drained(engine: Engine) -> None:
    """Returns after SIGTERM, once nothing is in flight. New requests are still taken meanwhile, as by the real one."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await stop.wait()
    engine.draining = True
    print("SIGTERM: draining", flush=True)
    while engine.in_flight:
        await asyncio.sleep(DRAIN_LOOK_SECONDS)


def main() -> int:
    """Exit code 2 for a command line or a setting that cannot be used."""
    given = arguments.parse(sys.argv[1:])
    try:
        chosen = settings.read()
        uvloop.run(serve(given, chosen))
    except (settings.BadSetting, shape.UnknownShape, profile.BadProfile, faults.BadFault, TransferUnavailable) as fault:
        print(f"engine_sim: {fault}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
