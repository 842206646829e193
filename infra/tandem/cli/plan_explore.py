"""`tandem plan explore MODEL --traffic FILE --slo ttft=2000,tpot=50`."""

from __future__ import annotations

import json
from pathlib import Path

import click
import yaml

from tandem.cli import options
from tandem.errors import Fault, PlanError
from tandem.facts.instances import instances
from tandem.plan.capacity.report import as_dict, as_text
from tandem.plan.capacity.search import search
from tandem.plan.capacity.traffic import Traffic, read_objectives, read_traffic
from tandem.plan.performance.formats import FORMATS
from tandem.plan.shape import Shape, read_shape, shape_of


@click.command("explore")
@click.argument("model")
@click.option(
    "--traffic",
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="YAML or JSON: requests_per_second, input_tokens, output_tokens, prefix_share.",
)
@click.option("--slo", required=True, help="ttft=MS,tpot=MS[,p=0.99]")
@click.option("--type", "types", multiple=True, help="An allowed instance type; may be repeated. Default: all.")
@click.option(
    "--weights", multiple=True, type=click.Choice(list(FORMATS)), help="An allowed weight format. Default: all."
)
@click.option(
    "--html", type=click.Path(dir_okay=False, path_type=Path), help="Also write a page with plots to this file."
)
@options.as_json
def command(
    model: str,
    traffic: Path,
    slo: str,
    types: tuple[str, ...],
    weights: tuple[str, ...],
    html: Path | None,
    as_json: bool,
) -> None:
    """Find what to deploy for MODEL (a known name, or the path of its config.json), and what it costs."""
    unknown = [name for name in types if name not in instances()]
    if unknown:
        raise PlanError(
            [Fault("--type", name, "Tandem has no facts of this type", "Name a GPU type") for name in unknown]
        )
    asked, objectives = traffic_in(traffic), read_objectives(slo)
    answer = search(shape_named(model), asked, objectives, types or None, weights or None)
    if html is not None:
        # Plots take a second to load, and the table needs none.
        from tandem.plan.capacity.page import page

        html.write_text(page(model, answer, asked, objectives), encoding="utf-8")
    if as_json:
        options.print_json(as_dict(answer))
    else:
        click.echo(as_text(answer, asked, objectives))
    if answer.best is None:
        raise click.exceptions.Exit(1)


def traffic_in(path: Path) -> Traffic:
    """The traffic that a YAML or JSON file describes. Raises `PlanError`."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        text = str(error).splitlines()[0]
        raise PlanError([Fault(str(path), "", f"is not YAML: {text}", "Correct the file")]) from error
    return read_traffic(content, str(path))


def shape_named(model: str) -> Shape:
    """The shape of a known model, or of the config.json at a path. Raises `PlanError`."""
    path = Path(model)
    if not path.is_file():
        return shape_of(model)
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise PlanError([Fault(model, "", f"is not JSON: {error}", "Give the model's config.json")]) from error
    if not isinstance(config, dict):
        raise PlanError([Fault(model, type(config).__name__, "a config.json is an object", "Give the model's own")])
    return read_shape(config, path.parent.name or model)
