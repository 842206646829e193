"""What decides a model's KV, from its `config.json`, however it is spelt.

The difficulty is that two files say the same thing differently. A key that is left out means the default of the model's class;
transformers 4 writes `rope_theta`, `rope_scaling` and `torch_dtype` where transformers 5 writes `rope_parameters` and `dtype`; a layer
pattern is a list in one file and a period in another. All of it is brought to one form here, and only that form is compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tandem.facts.model_defaults import model_defaults

FULL, SLIDING = "full_attention", "sliding_attention"
STATE_PREFIXES: Final = ("linear_", "mamba_", "ssm_", "conv_")
"""Keys that size the state of layers without a KV cache."""
BASE_KEYS: Final = (
    "hidden_size",
    "intermediate_size",
    "moe_intermediate_size",
    "n_shared_experts",
    "num_experts_per_tok",
    "q_lora_rank",
    "tie_word_embeddings",
    "attention_bias",
    "rms_norm_eps",
)
"""Keys that do not size the KV, but without which it is another model's."""
EXPERT_KEYS: Final = ("num_experts", "num_local_experts", "n_routed_experts")
ROPE_RENAMED: Final = {"su": "longrope"}
"""Old name of a rope type -> the name that transformers gave it later."""
ROPE_IGNORED: Final = frozenset({"type", "rope_type", "rope_theta", "partial_rotary_factor"})


class Missing(Exception):
    """The config does not tell something, and its model class is not known."""


@dataclass(frozen=True)
class KvShape:
    """Everything about a model that another must share to read its KV."""

    model_type: str
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    """Of keys; of values too, but for latent attention."""
    latent: tuple[int, int] | None
    """(rank of the compressed vector, rotary dimension) of latent attention; None for grouped attention."""
    layer_kinds: tuple[str, ...]
    """Kind of each layer."""
    window: int | None
    """Tokens that a sliding layer sees; None where no layer slides."""
    rope: Mapping[str, tuple[tuple[str, Any], ...]]
    """Layer kind -> what rotates its keys."""
    rotary_part: float
    """Part of a head that is rotated."""
    state: tuple[tuple[str, Any], ...]
    """Sizes of the state of layers without KV."""
    vocabulary: int
    dtype: str | None
    """As the file says it; None where it does not."""
    draft_layers: int
    """Layers of a built-in speculative head."""
    base: tuple[tuple[str, Any], ...]
    """What else tells one base model from another."""

    @property
    def moe(self) -> bool:
        """Whether the feed-forward layers are experts."""
        return any(key == "experts" and value for key, value in self.base)

    @property
    def hybrid(self) -> bool:
        """Whether some layers keep a state instead of KV."""
        return any(kind not in (FULL, SLIDING) for kind in self.layer_kinds)

    @property
    def feed_forward_width(self) -> int | None:
        """Columns of the widest down projection, of one expert where they are experts."""
        sizes = dict(self.base)
        found = sizes.get("moe_intermediate_size") if self.moe else None
        return found or sizes.get("intermediate_size")


def kv_shape(config: Mapping[str, Any]) -> KvShape:
    """The shape that a `config.json` describes; a multimodal model's is that of its language part.

    Raises `Missing` naming the key that neither the file nor the class's defaults have.
    """
    text = config.get("text_config")
    own = {**config, **text} if isinstance(text, Mapping) else dict(config)
    kind = str(own.get("model_type") or "")
    read = _Reader(own, model_defaults(kind) or {}, kind)
    layers, heads = read.number("num_hidden_layers"), read.number("num_attention_heads")
    width = read.number("hidden_size")
    rank = read.get("kv_lora_rank")
    latent = (int(rank), read.number("qk_rope_head_dim")) if rank else None
    kinds = _layer_kinds(read, layers)
    return KvShape(
        model_type=kind.removesuffix("_text"),
        layers=layers,
        heads=heads,
        kv_heads=int(read.get("num_key_value_heads") or heads),
        head_dim=latent[0] if latent else int(read.get("head_dim") or width // heads),
        latent=latent,
        layer_kinds=kinds,
        window=int(read.get("sliding_window") or 0) or None if SLIDING in kinds else None,
        rope=_rope(read, kinds),
        rotary_part=_rotary_part(read),
        state=tuple(sorted((key, value) for key, value in read.all().items() if key.startswith(STATE_PREFIXES))),
        vocabulary=read.number("vocab_size"),
        dtype=_dtype(own, config),
        draft_layers=int(own.get("num_nextn_predict_layers") or 0),
        base=_base(read),
    )


class _Reader:
    """A config with its class's defaults behind it."""

    def __init__(self, own: Mapping[str, Any], defaults: Mapping[str, Any], kind: str) -> None:
        self.own = own
        self.defaults = defaults
        self._kind = kind

    def get(self, key: str) -> Any:
        """The file's value, else the class's; a `null` in the file is the file's word."""
        return self.own[key] if key in self.own else self.defaults.get(key)

    def number(self, key: str) -> int:
        value = self.get(key)
        if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
            known = "" if self.defaults else f", and the defaults of model type {self._kind or '(none)'} are not known"
            raise Missing(f"{key} = {value!r}: a whole number above 0 is needed{known}")
        return value

    def all(self) -> dict[str, Any]:
        return {**self.defaults, **self.own}


def _layer_kinds(read: _Reader, layers: int) -> tuple[str, ...]:
    listed = read.own.get("layer_types")
    if listed:
        return tuple(str(kind) for kind in listed)
    if read.own.get("full_attention_interval"):
        every = int(read.own["full_attention_interval"])
        return tuple(FULL if (at + 1) % every == 0 else "linear_attention" for at in range(layers))
    if read.own.get("sliding_window_pattern"):
        every = int(read.own["sliding_window_pattern"])
        return tuple(SLIDING if (at + 1) % every else FULL for at in range(layers))
    windowed = bool(read.get("sliding_window"))
    if read.get("use_sliding_window") is not None:
        first = int(read.get("max_window_layers") or 0)
        slides = windowed and bool(read.get("use_sliding_window"))
        return tuple(SLIDING if slides and at >= first else FULL for at in range(layers))
    pattern = read.defaults.get("layer_pattern")
    if pattern and set(pattern) != {FULL}:
        return tuple(pattern[at % len(pattern)] for at in range(layers))
    return (SLIDING if windowed else FULL,) * layers


def _rope(read: _Reader, kinds: tuple[str, ...]) -> Mapping[str, tuple[tuple[str, Any], ...]]:
    attending = [kind for kind in dict.fromkeys(kinds) if kind in (FULL, SLIDING)]
    given = read.own.get("rope_parameters")
    default = read.defaults.get("rope_parameters") or {}
    if isinstance(given, Mapping):
        return {kind: _rotation(given.get(kind) if kind in given else given, default, kind) for kind in attending}
    scaling = read.own.get("rope_scaling") if isinstance(read.own.get("rope_scaling"), Mapping) else {}
    if "rope_theta" not in read.own and not scaling and "rope_local_base_freq" not in read.own:
        return {kind: _rotation(default.get(kind, default), default, kind) for kind in attending}
    old: dict[str, Any] = {**(scaling or {})}
    if "rope_theta" in read.own:
        old["rope_theta"] = read.own["rope_theta"]
    found = {kind: _rotation(old, default, kind) for kind in attending}
    if SLIDING in found and isinstance(default.get(SLIDING), Mapping):
        # transformers 4 has a second base for sliding layers, which no scaling touches.
        local = read.own.get("rope_local_base_freq", default[SLIDING].get("rope_theta"))
        found[SLIDING] = _rotation({"rope_theta": local}, default, SLIDING)
    return found


def _rotation(given: Any, default: Mapping[str, Any], kind: str) -> tuple[tuple[str, Any], ...]:
    values = given if isinstance(given, Mapping) else {}
    fallback = default.get(kind) if isinstance(default.get(kind), Mapping) else default
    theta = values.get("rope_theta", (fallback or {}).get("rope_theta", 10000.0))
    named = str(values.get("rope_type") or values.get("type") or "default")
    name = ROPE_RENAMED.get(named, named)
    rest = {key: _plain(value) for key, value in values.items() if key not in ROPE_IGNORED and value is not None}
    # "default" with a factor is none; a factor of 1 scales nothing.
    rest = {} if name == "default" else rest
    return (("theta", float(theta)), ("type", name), *sorted(rest.items()))


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_plain(each) for each in value)
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _rotary_part(read: _Reader) -> float:
    given = read.own.get("rope_parameters")
    inner = given.get("partial_rotary_factor") if isinstance(given, Mapping) else None
    behind = (read.defaults.get("rope_parameters") or {}).get("partial_rotary_factor")
    for value in (inner, read.own.get("partial_rotary_factor"), read.defaults.get("partial_rotary_factor"), behind):
        if value is not None:
            return float(value)
    return 1.0


def _dtype(own: Mapping[str, Any], outer: Mapping[str, Any]) -> str | None:
    for place in (own, outer):
        for key in ("dtype", "torch_dtype"):
            if place.get(key):
                return str(place[key]).removeprefix("torch.")
    return None


def _base(read: _Reader) -> tuple[tuple[str, Any], ...]:
    found = {key: read.get(key) for key in BASE_KEYS}
    found["experts"] = next((read.get(key) for key in EXPERT_KEYS if read.get(key)), None)
    return tuple(sorted((key, _plain(value)) for key, value in found.items() if value is not None))
