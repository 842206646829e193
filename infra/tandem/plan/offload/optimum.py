"""The threshold and split that serve most (Prefill-as-a-Service, arXiv 2604.15039, equations 1 to 8).

    remote prefill   = min(N_remote / T_remote(l_long), B / S(l_long))          l_long  = E[L | L > t], share p
    local prefill    = N_p / T_local(l_short)                                   l_short = E[L | L <= t]
    decode           = N_d x rate of one instance
    served           = min(remote / p, local / (1 - p), decode)

All thresholds and splits at once, as vectors. T is taken at the conditional mean, as the paper does; it is convex, so a
queue of mixed lengths does a little worse. Times to the first token are without queueing, as in the paper's table 6.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tandem.plan.lengths import Lengths
from tandem.plan.offload.profile import KvProfile, PrefillProfile
from tandem.plan.vectors import Array

THRESHOLD_STEP = 100
"""Tokens between thresholds that are tried."""


@dataclass(frozen=True)
class Sites:
    """What there is to divide."""

    lengths: Lengths
    kv: KvProfile
    local: PrefillProfile
    local_instances: int
    decode_requests_per_second: float
    """Of one decode instance."""
    remote: PrefillProfile | None = None
    remote_instances: int = 0
    link_gbps: float = 0.0
    """Usable, from the prefill site to the home site."""


@dataclass(frozen=True)
class Optimum:
    """One way to serve, and what it reaches. Rates are requests a second."""

    threshold: float | None
    """Prompts longer than this many tokens prefill at the other site. None: all stay."""
    prefill_instances: int
    decode_instances: int
    served: float
    remote: float
    local: float
    decode: float
    offloaded_share: float
    ttft_mean: float
    """Seconds, without queueing."""
    ttft_p90: float
    egress_gbps: float
    """On the link, at the served rate."""
    binds: str
    """What would have to grow to serve more."""


def rates(sites: Sites, prefill: int, decode: int, thresholds: Array) -> tuple[Array, Array, Array, Array]:
    """(share above, remote, local, decode) rate limits for each threshold; infinite where a stage gets no request."""
    share, long, short = sites.lengths.split(thresholds)
    none = np.full(len(thresholds), np.inf)
    remote, local = none.copy(), none.copy()
    if sites.remote is not None and sites.remote_instances:
        compute = sites.remote_instances / sites.remote.seconds(long)
        link = sites.link_gbps * 1e9 / 8 / sites.kv.bytes(long)
        remote = np.where(share > 0, np.minimum(compute, link), np.inf)
    else:
        remote = np.where(share > 0, 0.0, np.inf)
    local = np.where(share < 1, prefill / sites.local.seconds(short), np.inf)
    return share, remote, local, np.full(len(thresholds), decode * sites.decode_requests_per_second)


def at(sites: Sites, prefill: int, decode: int, threshold: float | None) -> Optimum:
    """What one split serves with one threshold. None keeps every prompt at home; 0 sends every one away."""
    cut = np.array([np.inf if threshold is None else float(threshold)])
    share, remote, local, decoded = (float(value[0]) for value in rates(sites, prefill, decode, cut))
    limits = {
        "remote prefill or link": remote / share if share else np.inf,
        "local prefill": local / (1 - share) if share < 1 else np.inf,
        "decode": decoded,
    }
    binds = min(limits, key=lambda name: limits[name])
    served = limits[binds]
    tokens = sites.lengths.array
    away = tokens > cut[0]
    first = sites.local.seconds(tokens)
    moved = np.zeros(len(tokens))
    if sites.remote is not None and share:
        moved = np.where(away, sites.kv.bytes(tokens), 0.0)
        wire = moved * 8 / (sites.link_gbps * 1e9) if sites.link_gbps else np.full(len(tokens), np.inf)
        first = np.where(away, sites.remote.seconds(tokens) + wire, first)
    return Optimum(
        threshold=threshold,
        prefill_instances=prefill,
        decode_instances=decode,
        served=served,
        remote=remote if share else 0.0,
        local=local if share < 1 else 0.0,
        decode=decoded,
        offloaded_share=share,
        ttft_mean=float(first.mean()),
        ttft_p90=float(np.quantile(first, 0.9)),
        egress_gbps=served * float(moved.mean()) * 8 / 1e9,
        binds=binds,
    )


def best(sites: Sites) -> Optimum:
    """The threshold and split that serve most; no offload where none serves more. Equal ones: the fewest bytes on the link."""
    found = [at(sites, prefill, sites.local_instances - prefill, None) for prefill in range(1, sites.local_instances)]
    if sites.remote is not None and sites.remote_instances and sites.link_gbps > 0:
        top = sites.lengths.points[-1]
        thresholds = np.arange(0.0, top + THRESHOLD_STEP, THRESHOLD_STEP)
        for prefill in range(sites.local_instances):
            decode = sites.local_instances - prefill
            share, remote, local, decoded = rates(sites, prefill, decode, thresholds)
            with np.errstate(divide="ignore", invalid="ignore"):
                served = np.minimum(
                    np.minimum(
                        np.where(share > 0, remote / share, np.inf), np.where(share < 1, local / (1 - share), np.inf)
                    ),
                    decoded,
                )
            most = np.flatnonzero(served >= served.max() * (1 - 1e-12))[-1]
            found.append(at(sites, prefill, decode, float(thresholds[most])))
    return max(found, key=lambda one: (round(one.served, 9), -one.egress_gbps))
