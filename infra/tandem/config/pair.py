"""A pair as a person writes it: two checkpoints of one base model and everything both sides must share."""

from __future__ import annotations

import difflib
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, PositiveFloat, PositiveInt

from tandem.config.base import Strict
from tandem.config.patterns import shaped
from tandem.facts.schemes import schemes
from tandem.units import Tokens

Digest = Annotated[
    str, shaped(r"sha256:[0-9a-f]{64}", "must be sha256: and 64 hex digits", "the output of sha256sum after sha256:")
]
Tag = Annotated[
    str, shaped(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}", "must be an image tag, without a repository", "1.13.0")
]


def _written_out(value: str) -> str:
    if value == "auto":
        raise ValueError(
            "both roles must render the same literal, and each engine resolves `auto` by its own checkpoint and GPU "
            "| Write the value out"
        )
    return value


def _one_of(flag: str, allowed: dict[str, str | None]) -> AfterValidator:
    """Accepts a key of `allowed` whose value is None; the other keys are refused with that value as the reason."""

    def check(value: str) -> str:
        if value in allowed and allowed[value] is None:
            return value
        good = [name for name, reason in allowed.items() if reason is None]
        rule = allowed.get(value) or f"not a value that Tandem runs {flag} with"
        raise ValueError(f"{rule} | Write one of: {', '.join(good)}")

    return AfterValidator(check)


def _known_scheme(value: str | None) -> str | None:
    if value is None or value in schemes():
        return value
    close = difflib.get_close_matches(value, schemes(), n=1, cutoff=0.4)
    nearest = f"Nearest: {close[0]}" if close else f"Known: {', '.join(schemes())}"
    raise ValueError(f"not a quantization scheme that SGLang 0.5.23 runs | {nearest}")


Literal_ = Annotated[
    str,
    shaped(r"[A-Za-z0-9][A-Za-z0-9_.-]*", "must be one word of the engine's command line", "flashinfer"),
    AfterValidator(_written_out),
]
"""A literal that both roles render as it stands."""

FP8_KV = (
    "an 8-bit KV cache is right only where both checkpoints carry equal k/v scales, which nothing proves here: "
    "unequal ones corrupt answers silently"
)


class GroupedAttention(Strict):
    """Multi-head, grouped-query or multi-query attention: keys and values per head."""

    kind: Literal["grouped"]
    heads: PositiveInt
    kv_heads: PositiveInt
    head_dim: PositiveInt


class LatentAttention(Strict):
    """Multi-head latent attention (DeepSeek): one compressed vector a token and layer."""

    kind: Literal["latent"]
    heads: PositiveInt
    head_dim: PositiveInt
    kv_lora_rank: PositiveInt
    rope_head_dim: PositiveInt


class ModelShape(Strict):
    """The base model's shape, as its `config.json` gives it."""

    base: Annotated[
        str,
        shaped(
            r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9._-]+)?",
            "must be a model's name, with or without its owner",
            "meta-llama/Llama-3.1-70B-Instruct",
        ),
    ]
    """The base model that both checkpoints quantize, for example `meta-llama/Llama-3.1-70B-Instruct`."""
    architecture: Literal["dense", "moe"]
    """Whether the feed-forward layers are experts; decides which schemes have kernels."""
    attention: Annotated[GroupedAttention | LatentAttention, Field(discriminator="kind")]
    layers: PositiveInt
    hidden_size: PositiveInt
    intermediate_size: PositiveInt
    """Width of the feed-forward layers, of one expert where they are experts."""
    vocabulary: PositiveInt
    parameters_billion: PositiveFloat
    context_limit: Tokens
    """Longest context that the base model was made for (`max_position_embeddings`)."""


class Checkpoint(Strict):
    """One quantized copy of the base model."""

    uri: Annotated[
        str,
        shaped(
            r"(weights:|/)[A-Za-z0-9._/-]+",
            "must be a prefix in the weights bucket, or a folder on the nodes",
            "weights:llama-3.1-8b/w8a8, or /models/llama",
        ),
    ]
    """Where its files are: `weights:<prefix>` in the weights bucket of the registry stack, or a folder on the nodes."""
    digest: Digest | None = None
    """sha256 of the checkpoint's file list. None only where no files exist: a simulated engine."""
    scheme: Annotated[str | None, AfterValidator(_known_scheme)] = None
    """The concrete scheme that the files are in. None: the planner's choice for the role's `quantization` and nodes."""


class SimulatedEngine(Strict):
    """`engine-sim`: SGLang's HTTP API and a real KV transfer, with a GPU's time imitated. Never for real answers."""

    kind: Literal["simulated"]
    image: str = "engine-sim"
    """Repository in the registry stack."""
    tag: Tag
    profile: Annotated[str, shaped(r"[a-z0-9-]+", "must be the name of a profile", "default")] = "default"
    """The image's timing profile."""
    speed: PositiveFloat = 1.0
    """How many times faster than the profiled GPU it pretends to be."""
    kv_scale: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Part of the model's KV bytes that is really moved: below 1 for large models on small machines."""


class SGLangEngine(Strict):
    """SGLang itself."""

    kind: Literal["sglang"]
    image: str = "sglang"
    """Repository in the registry stack."""
    digest: Digest
    """The image's digest: a tag can move, and both roles must run the same bytes."""


class Pair(Strict):
    """One release: a prefill and a decode checkpoint and all that they must agree on. Hashed into the pair revision."""

    served_name: Annotated[
        str,
        shaped(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,95}", "must be a name that clients can send as `model`", "llama-3.1-8b"),
    ]
    """The model name that clients send."""
    model: ModelShape
    prefill: Checkpoint
    decode: Checkpoint
    engine: Annotated[SimulatedEngine | SGLangEngine, Field(discriminator="kind")]
    dtype: Annotated[
        str,
        _one_of("--dtype", {"bfloat16": None, "auto": "each checkpoint resolves `auto` by its own config.json"}),
    ] = "bfloat16"
    """Compute dtype. float16 beside bfloat16 is the same number of bytes and garbage, so only one is offered."""
    kv_cache_dtype: Annotated[
        str,
        _one_of(
            "--kv-cache-dtype",
            {
                "bfloat16": None,
                "auto": "each engine resolves `auto` by its checkpoint and GPU; unequal literals kill decode",
                "bf16": "SGLang compares the literals: bf16 and bfloat16 are unequal, and decode dies of it",
                "fp8_e4m3": FP8_KV,
                "fp8_e5m2": FP8_KV,
            },
        ),
    ] = "bfloat16"
    page_size: Literal[1, 16, 32, 64, 128] = 64
    """Tokens in one KV page. Attention backends may insist on one of these."""
    context_length: Tokens
    """Longest prompt plus answer."""
    attention_backend: Literal_
    """Decides the KV layout."""
    transfer_backend: Annotated[
        str,
        _one_of(
            "--disaggregation-transfer-backend",
            {
                "mooncake": None,
                "mooncake_tcp": None,
                "nixl": None,
                "auto": "the two roles must speak one protocol",
                "fake": "moves no KV",
            },
        ),
    ]
    """How KV travels: `mooncake` and `nixl` over EFA, `mooncake_tcp` over TCP where nodes have no EFA."""
    allocation_policy: Literal["early", "prefill_complete"] = "early"
    """When decode reserves memory for a request's KV."""
    chat_template: Literal_ | None = None
    """None: the template in the checkpoint's tokenizer files, the same in both."""
    tool_call_parser: Literal_ | None = None
    reasoning_parser: Literal_ | None = None
