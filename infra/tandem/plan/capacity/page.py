"""An answer of the search as one HTML file that needs nothing else: the verdict, the table, and two plots."""

from __future__ import annotations

import html
from typing import Any

import plotly.graph_objects as go

from tandem.plan.capacity.report import as_text
from tandem.plan.capacity.search import Answer, Deployment
from tandem.plan.capacity.traffic import Objectives, Traffic

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #ffffff; --line: #d0d7de; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #12161b; --line: #30363d; } }
body { margin: 0 auto; max-width: 72rem; padding: 1.5rem; font: 16px/1.5 system-ui, sans-serif; color: var(--ink);
  background: var(--paper); }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
pre { overflow-x: auto; padding: 1rem; border: 1px solid var(--line); border-radius: 6px; font-size: 0.8rem; }
.verdict { font-size: 1.15rem; font-weight: 600; }
.plot { border: 1px solid var(--line); border-radius: 6px; overflow: hidden; }
"""
PLAIN: dict[str, Any] = {
    "paper_bgcolor": "rgba(0,0,0,0)",
    "plot_bgcolor": "rgba(0,0,0,0)",
    "font": {"color": "#7d8590", "size": 13},
    "margin": {"l": 64, "r": 16, "t": 16, "b": 96},
    "height": 380,
    "legend": {"orientation": "h", "y": -0.28},
}
"""Grey text and no background read on a light page and on a dark one."""
COLOURS = ("#2f81f7", "#d29922", "#3fb950", "#a371f7", "#f85149", "#39c5cf")


def page(name: str, answer: Answer, traffic: Traffic, objectives: Objectives) -> str:
    """The page for a model's answer."""
    everyone = [one for one in (answer.best, answer.single, answer.split, *answer.runners_up) if one is not None]
    unique = list({one.label: one for one in everyone}.values())
    plots = ""
    if unique:
        front, parts = _front(answer, unique), _parts(unique)
        plots = (
            "<h2>Money against time to the first token</h2>"
            f'<div class="plot">{_html(front, first=True)}</div>'
            "<h2>Where the money goes</h2>"
            f'<div class="plot">{_html(parts, first=False)}</div>'
        )
    title = html.escape(name)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Plan for {title}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head><body>'
        f'<h1>Plan for {title}</h1><p class="verdict">{html.escape(answer.verdict)}</p>'
        f"<pre>{html.escape(as_text(answer, traffic, objectives))}</pre>{plots}</body></html>"
    )


def _html(figure: Any, *, first: bool) -> str:
    text: str = figure.to_html(
        full_html=False,
        include_plotlyjs=first,
        config={"responsive": True, "displayModeBar": False},
        default_width="100%",
    )
    return text


def _front(answer: Answer, unique: list[Deployment]) -> Any:
    figure = go.Figure(layout=PLAIN)
    groups = (("cheapest at its speed", list(answer.front), COLOURS[0]), ("others", unique, COLOURS[1]))
    for name, found, colour in groups:
        shown = [one for one in found if name != "others" or all(one.label != other.label for other in answer.front)]
        figure.add_trace(
            go.Scatter(
                x=[one.bill.usd_per_hour for one in shown],
                y=[one.ttft_ms for one in shown],
                text=[one.label for one in shown],
                hovertemplate="%{text}<br>$%{x:.2f} per hour<br>TTFT %{y:.0f} ms<extra></extra>",
                mode="markers+lines" if name != "others" else "markers",
                marker={"size": 11, "color": colour},
                name=name,
            )
        )
    axis = {"gridcolor": "rgba(125,133,144,0.3)", "zeroline": False}
    figure.update_xaxes(title="US dollars per hour", **axis)
    figure.update_yaxes(title="TTFT, ms", rangemode="tozero", **axis)
    return figure


def _parts(unique: list[Deployment]) -> Any:
    figure = go.Figure(layout={**PLAIN, "barmode": "stack"})
    labels = ["<br>".join(one.label.split(" + ")) for one in unique]
    names = list(dict.fromkeys(part.stack for one in unique for part in one.bill.parts))
    for name, colour in zip(names, COLOURS, strict=False):
        money = [sum(part.usd_per_hour for part in one.bill.parts if part.stack == name) for one in unique]
        figure.add_trace(
            go.Bar(y=labels, x=money, name=name, orientation="h", marker={"color": colour, "line": {"width": 0}})
        )
    figure.update_xaxes(title="US dollars per hour", gridcolor="rgba(125,133,144,0.3)")
    figure.update_yaxes(autorange="reversed", automargin=True)
    return figure
