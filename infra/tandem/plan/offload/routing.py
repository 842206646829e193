"""Where one request's prefill runs, and how the threshold moves: the rules an offload scheduler obeys. Pure.

Fast: a request goes away when its uncached length is above the threshold (the paper's section 3.4). Where the link is
scarce only the home site's prefix counts; where it is abundant the longer prefix of both counts, and is copied across.
Slow: the threshold is the optimum at the link and load measured; between two optima it rises while the link is near its limit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from tandem.plan.offload.optimum import Optimum, Sites, best

LINK_FULL = 0.85
"""Share of the link's rate above which queues on it grow faster than requests; the paper only says `near its limit`."""
RAISE = 1.15
"""How much a full link raises the threshold at one look: two looks shed about a quarter of the bytes of a log-normal."""


class Place(StrEnum):
    """Where a prefill runs."""

    HOME = "home"
    AWAY = "away"


@dataclass(frozen=True)
class Request:
    """What is known of a request on arrival, in tokens."""

    tokens: int
    prefix_home: int = 0
    prefix_away: int = 0


@dataclass(frozen=True)
class State:
    """What is measured of sites and link."""

    threshold: float | None
    """None: offload is off."""
    link_gbps: float
    link_used_gbps: float
    home_wait_seconds: float = 0.0
    """How long a prompt waits for prefill at home."""
    away_wait_seconds: float = 0.0
    away_ready: bool = True


@dataclass(frozen=True)
class Choice:
    """What is done, and why in words."""

    place: Place
    reason: str


def route(request: Request, state: State, sites: Sites, *, abundant: bool = False) -> Choice:
    """Where the request's prefill runs. Never away without link, site or threshold; else by length, then by what is sooner."""
    if state.threshold is None or sites.remote is None:
        return Choice(Place.HOME, "offload is off")
    if not state.away_ready or state.link_gbps <= 0:
        return Choice(Place.HOME, "the prefill site or the link is down")
    prefix = max(request.prefix_home, request.prefix_away) if abundant else request.prefix_home
    uncached = max(request.tokens - prefix, 0)
    if uncached <= state.threshold:
        return Choice(Place.HOME, f"{uncached} uncached tokens are not above the threshold")
    free = max(state.link_gbps - state.link_used_gbps, 0.02 * state.link_gbps)
    away = state.away_wait_seconds + sites.remote.base + sites.remote.slope * uncached
    away += sites.remote.square * uncached**2 + (sites.kv.fixed + sites.kv.per_token * uncached) * 8 / (free * 1e9)
    home = state.home_wait_seconds + sites.local.base + sites.local.slope * uncached + sites.local.square * uncached**2
    if home <= away:
        return Choice(Place.HOME, "home answers sooner: the queue or the link there is longer")
    return Choice(Place.AWAY, f"{uncached} uncached tokens are above the threshold")


def next_threshold(state: State, sites: Sites) -> float | None:
    """The threshold after a short look at the link: raised while it is nearly full. None stays None."""
    if state.threshold is None:
        return None
    full = state.link_gbps <= 0 or state.link_used_gbps > LINK_FULL * state.link_gbps
    return min(max(state.threshold, 1.0) * RAISE, sites.lengths.points[-1]) if full else state.threshold


def replan(sites: Sites, measured_link_gbps: float) -> Optimum:
    """The optimum at the link as it is measured: for the slow loop. A lost link plans without offload."""
    return best(replace(sites, link_gbps=max(measured_link_gbps, 0.0)))
