"""A model's shape: what its own config.json says about parameters, FLOPs and KV bytes."""

from tandem.plan.shape.attention import Attention, Grouped, Latent, Linear
from tandem.plan.shape.read import read_shape, shape_of
from tandem.plan.shape.shape import Experts, LayerGroup, Shape

__all__ = ["Attention", "Experts", "Grouped", "Latent", "LayerGroup", "Linear", "Shape", "read_shape", "shape_of"]
