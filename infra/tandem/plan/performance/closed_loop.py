"""One engine that prefills and decodes, under a fixed number of clients that each wait for their answer (a bench run).

    n      = min(clients, requests whose KV fits)
    TPOT   = step(n, input + output / 2) + (n - 1) x prefill / output        each other client's next prompt interrupts once
    TTFT   = prefill + queue + first burst / rounds + admission x TPOT
    queue  = rho / (2 (1 - rho)) x prefill,  rho = n x prefill / cycle       (M/D/1, Pollaczek-Khinchine)
    out    = n x output / cycle / gpus,      cycle = prefill + output x TPOT

(interference: facts planner 3.3.) Clients beyond n wait a share of a cycle. TTFT of such runs hangs on how the engine admits
prompts and on the run's first burst, so its error bar is wide.
"""

from __future__ import annotations

from dataclasses import dataclass

from tandem.plan.performance.engine import Engine
from tandem.plan.vectors import array

ROUNDS = 10
"""Requests a client sends in a run: benches use ten times as many prompts as clients; the first ones arrive together."""


@dataclass(frozen=True)
class Load:
    """A bench run."""

    input_tokens: float
    output_tokens: float
    clients: float


@dataclass(frozen=True)
class Prediction:
    """What the run would measure. Errors are relative shares."""

    ttft_ms: float
    tpot_ms: float
    out_tok_s_gpu: float
    running: float
    """Requests that run together; fewer than clients where KV memory binds."""


def predict(engine: Engine, load: Load) -> Prediction | None:
    """What an engine reaches under the load. None: the model, or one request's KV, does not fit."""
    held = engine.requests_held(load.input_tokens + load.output_tokens / 2)
    if held < 1:
        return None
    running = min(load.clients, float(held))
    prefill = float(engine.prefill_seconds(array(load.input_tokens))[0])
    step = float(engine.step_seconds(array(running), array(load.input_tokens + load.output_tokens / 2))[0])
    tpot = step + max(running - 1, 0) * prefill / load.output_tokens
    cycle = prefill + load.output_tokens * tpot
    busy = min(running * prefill / cycle, 0.95)
    queue = busy / (2 * (1 - busy)) * prefill
    burst = max(running - 1, 0) / 2 * prefill / ROUNDS
    waiting = max(load.clients - running, 0) / running * cycle
    ttft = prefill + queue + burst + engine.calibration.admission_steps * tpot + waiting
    return Prediction(ttft * 1e3, tpot * 1e3, running * load.output_tokens / cycle / engine.gpus, running)
