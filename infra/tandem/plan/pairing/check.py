"""Judges a pair: can decode read the KV that prefill writes, and go on as the same model would?

Everything is derived from the checkpoints' files and the engines' arguments. SGLang itself compares the page size, the KV dtype's literal
and little more, and dies of a mismatch; weights, rope, tokenizer, dtype and scales it never compares (sglang.md 2), and wrong ones give
fluent garbage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tandem.facts.schemes import RUNS, Support, schemes
from tandem.plan.pairing.engine import EngineSide
from tandem.plan.pairing.files import CheckpointFiles
from tandem.plan.pairing.quantization import PLAIN, Quantization, quantization
from tandem.plan.pairing.shape import KvShape, Missing, kv_shape
from tandem.plan.pairing.verdict import Answer, Reason, Verdict, answer


@dataclass(frozen=True)
class Half:
    """One role's checkpoint, understood."""

    role: str
    files: CheckpointFiles
    shape: KvShape
    quantization: Quantization
    engine: EngineSide

    @property
    def kv_literal(self) -> str:
        """The KV dtype as the engine tells it to the other: `auto` stays, unless the checkpoint asks for 8 bits."""
        given = self.engine.value("--kv-cache-dtype", "auto")
        return self.quantization.kv_dtype or given if given == "auto" else given

    @property
    def dtype(self) -> str:
        """What it computes in."""
        return self.engine.dtype(self.shape.dtype)


@dataclass(frozen=True)
class Item:
    """One thing that both halves must have equal."""

    code: str
    name: str
    of: Callable[[KvShape], Any]
    why: str


BASE_FIX: Final = "Quantize both halves from one base model"
SHAPE_ITEMS: Final = (
    Item("layers", "layers", lambda s: s.layers, "each layer's KV goes to the same layer"),
    Item(
        "attention", "kind of attention", lambda s: "latent" if s.latent else "grouped", "their KV is not of one kind"
    ),
    Item("mla", "latent rank and rotary dimension", lambda s: s.latent, "the compressed vectors differ in size"),
    Item("kv_heads", "KV heads", lambda s: None if s.latent else s.kv_heads, "the KV of a token differs in size"),
    Item("head_dim", "head dimension", lambda s: None if s.latent else s.head_dim, "the KV of a head differs in size"),
    Item("layer_pattern", "pattern of layers", lambda s: s.layer_kinds, "layers of another kind keep other KV"),
    Item("sliding_window", "sliding window", lambda s: s.window, "sliding layers keep other tokens"),
    Item(
        "rope",
        "rope",
        lambda s: sorted(s.rope.items()),
        "keys are rotated by other angles: the same bytes mean other positions",
    ),
    Item("partial_rotary", "rotated part of a head", lambda s: s.rotary_part, "keys are rotated in other dimensions"),
    Item("state", "state of layers without KV", lambda s: s.state, "their state differs in size"),
    Item("vocabulary", "vocabulary", lambda s: s.vocabulary, "the same token id means another token"),
    Item("speculative_head", "layers of the speculative head", lambda s: s.draft_layers, "its KV travels along"),
    Item("base_model", "model class", lambda s: s.model_type, "it is another model"),
    Item("base_model", "sizes", lambda s: s.base, "it is another model, however equal its KV's shape"),
)
LITERALS: Final = {
    "--context-length": "context_length",
    "--served-model-name": "served_name",
    "--attention-backend": "layout",
    "--disaggregation-transfer-backend": "transfer_backend",
    "--disaggregation-decode-allocation-policy": "allocation_policy",
    "--chat-template": "chat_template",
    "--tool-call-parser": "tool_call_parser",
    "--reasoning-parser": "reasoning_parser",
    "--speculative-algorithm": "speculative",
    "--speculative-draft-model-path": "speculative",
    "--speculative-num-steps": "speculative",
    "--speculative-eagle-topk": "speculative",
    "--speculative-num-draft-tokens": "speculative",
}
"""Arguments that must be one literal on both roles -> code of the reason."""
FLAG_METHODS: Final = {
    "w8a8_fp8": ("compressed-tensors",),
    "w8a8_int8": ("compressed-tensors",),
    "modelopt_fp8": ("modelopt",),
    "modelopt_fp4": ("modelopt", "fp8"),
    "awq_marlin": ("awq",),
    "gptq_marlin": ("gptq",),
    "humming": ("compressed-tensors", "w4afp8", "fp8", "mxfp4"),
    "w4afp8": ("modelopt", "fp8"),
}
"""`--quantization` -> checkpoints' methods that it takes beside its own (sglang.md 3); any other is an error at start."""


def check(prefill: CheckpointFiles, decode: CheckpointFiles, engines: Mapping[str, EngineSide] | None = None) -> Answer:
    """The verdict on two checkpoints, and on the engines that would run them where those are described."""
    sides = engines or {}
    reasons: list[Reason] = []
    halves: list[Half] = []
    for role, files in (("prefill", prefill), ("decode", decode)):
        try:
            shape = kv_shape(files.config)
        except Missing as missing:
            fix = "Give the whole config.json that the base model was published with"
            reasons.append(Reason(Verdict.UNPROVED, "config", f"{role}: {files.where}/config.json", str(missing), fix))
            continue
        found = quantization(files, moe=shape.moe)
        halves.append(Half(role, files, shape, found, sides.get(role, EngineSide())))
    for half in halves:
        reasons += [*_scheme(half), *_parallel(half)]
    if len(halves) == 2:
        first, second = halves
        for judge in (_shapes, _numbers, _pages, _tokens, _literals, _tensors, _degrees):
            reasons += judge(first, second)
    return answer(reasons)


def _shapes(prefill: Half, decode: Half) -> Iterator[Reason]:
    for item in SHAPE_ITEMS:
        left, right = item.of(prefill.shape), item.of(decode.shape)
        if left != right:
            yield _unequal(item.code, item.name, _short(left, right), _short(right, left), item.why, BASE_FIX)


def _numbers(prefill: Half, decode: Half) -> Iterator[Reason]:
    if prefill.kv_literal != decode.kv_literal:
        why = "decode compares the literals when it first meets prefill, and its whole server ends"
        fix = "Give both --kv-cache-dtype bfloat16"
        yield _unequal("kv_dtype", "KV dtype", prefill.kv_literal, decode.kv_literal, why, fix)
    if prefill.dtype != decode.dtype:
        why = "KV has as many bytes a value in both, and means other numbers"
        yield _unequal("dtype", "dtype", prefill.dtype, decode.dtype, why, "Give both --dtype bfloat16")
    yield from _scales(prefill, decode)


def _scales(prefill: Half, decode: Half) -> Iterator[Reason]:
    """Prefill writes 8-bit KV with its own scales, decode reads it with its own; with 16 bits one attention backend still applies them."""
    names = [_scale_names(half) for half in (prefill, decode)]
    eight_bits = prefill.kv_literal.startswith("fp8") and decode.kv_literal.startswith("fp8")
    fix = "Make both checkpoints without KV scales, or with the same ones"
    if None in names:
        if eight_bits:
            where = ", ".join(h.role for h, n in zip((prefill, decode), names, strict=True) if n is None)
            message = f"8-bit KV needs equal k/v scales in both, and there is no safetensors header of {where}"
            yield Reason(Verdict.UNPROVED, "kv_scales", where, message, "Give the checkpoints' safetensors files")
        return
    left, right = names
    if left != right:
        counts = f"{len(left or ())} of prefill, {len(right or ())} of decode"
        verdict = Verdict.INCOMPATIBLE if eight_bits else Verdict.UNPROVED
        message = f"only one half carries some KV scales ({counts}): each side scales KV by its own"
        yield Reason(verdict, "kv_scales", "both", message, fix)
    elif left and eight_bits:
        values = [{name: half.files.scales.get(name) for name in left} for half in (prefill, decode)]
        if None in values[0].values() or None in values[1].values():
            message = "both carry KV scales, and their values are not there to be compared"
            yield Reason(Verdict.UNPROVED, "kv_scales", "both", message, "Give the whole safetensors files")
        elif values[0] != values[1]:
            name = next(name for name in sorted(left) if values[0][name] != values[1][name])
            yield _unequal("kv_scales", name, values[0][name], values[1][name], "each side scales KV by its own", fix)


def _scale_names(half: Half) -> frozenset[str] | None:
    if half.files.tensors is None:
        return None
    return frozenset(name for name in half.files.tensors if name.endswith((".k_scale", ".v_scale", ".kv_scale")))


def _pages(prefill: Half, decode: Half) -> Iterator[Reason]:
    left, right = prefill.engine.page_size(), decode.engine.page_size()
    fix = "Give both one --page-size that their attention backends take on their GPUs"
    if left is not None and right is not None and left != right:
        why = "decode compares it when it first meets prefill, and its whole server ends (the GPU and the backend decide too)"
        yield _unequal("page_size", "page size", left, right, why, fix)
    elif (left is None) != (right is None):
        message = f"prefill works with pages of {left or 'unknown size'}, decode of {right or 'unknown size'}"
        yield Reason(Verdict.UNPROVED, "page_size", "both", message, fix)


def _tokens(prefill: Half, decode: Half) -> Iterator[Reason]:
    left, right = prefill.files.tokenizer, decode.files.tokenizer
    fix = "Put the base model's tokenizer files into both, unchanged"
    for name in sorted({*left, *right}):
        if name not in left or name not in right:
            lacking = prefill if name not in left else decode
            where = f"{lacking.role}: {lacking.files.where}/{name}"
            yield Reason(Verdict.UNPROVED, "tokenizer", where, "is not there, and the other half has it", fix)
        elif left[name] != right[name]:
            message = f"{name} differs: the same text becomes other tokens"
            yield Reason(Verdict.INCOMPATIBLE, "tokenizer", name, message, fix)
    given = prefill.engine.value("--chat-template"), decode.engine.value("--chat-template")
    if prefill.files.chat_template != decode.files.chat_template and not all(given):
        message = "the chat templates differ: the gateway's prompt is another one in each half"
        yield Reason(Verdict.INCOMPATIBLE, "chat_template", "chat template", message, fix)
    one, other = _end_tokens(prefill), _end_tokens(decode)
    if one != other:
        yield _unequal("end_tokens", "end-of-text tokens", one, other, "an answer ends elsewhere", fix)


def _end_tokens(half: Half) -> tuple[int, ...]:
    found = (half.files.generation or {}).get("eos_token_id", half.files.config.get("eos_token_id"))
    return tuple(sorted(found)) if isinstance(found, list) else (found,) if isinstance(found, int) else ()


def _literals(prefill: Half, decode: Half) -> Iterator[Reason]:
    for flag, code in LITERALS.items():
        left, right = prefill.engine.value(flag), decode.engine.value(flag)
        if left != right:
            why = "both roles must be given one literal"
            yield _unequal(code, flag, left or "(not given)", right or "(not given)", why, f"Give both the same {flag}")


def _tensors(prefill: Half, decode: Half) -> Iterator[Reason]:
    """Tensors that neither half quantizes are the base's own, bit by bit."""
    left, right = prefill.files.tensors, decode.files.tensors
    if left is None or right is None:
        return
    for name in sorted(left.keys() & right.keys()):
        one, other = left[name], right[name]
        if _is_plain(one.dtype) and _is_plain(other.dtype) and one.shape != other.shape:
            yield _unequal(
                "base_model", name, one.shape, other.shape, "the same tensor of one base has one shape", BASE_FIX
            )
    for name in sorted(prefill.files.digests.keys() & decode.files.digests.keys()):
        if left[name].dtype == right[name].dtype and prefill.files.digests[name] != decode.files.digests[name]:
            message = f"{name} is in both as it was in its base, and not the same: the halves come from different bases"
            yield Reason(Verdict.INCOMPATIBLE, "base_model", name, message, BASE_FIX)


def _is_plain(dtype: str) -> bool:
    return dtype in ("BF16", "F16", "F32")


def _degrees(prefill: Half, decode: Half) -> Iterator[Reason]:
    left, right = (half.engine.number("--tp-size") for half in (prefill, decode))
    if left != right and prefill.shape.hybrid:
        message = f"prefill runs on {left} GPUs, decode on {right}: how the state of layers without KV is cut then is not proved"
        yield Reason(Verdict.UNPROVED, "tensor_parallel", "--tp-size", message, "Give both the same --tp-size")
    elif left != right and prefill.shape.window and prefill.shape.model_type == "gpt_oss":
        message = (
            f"prefill runs on {left} GPUs, decode on {right}: this family's sliding layers are not proved with that"
        )
        yield Reason(Verdict.UNPROVED, "tensor_parallel", "--tp-size", message, "Give both the same --tp-size")
    stages = prefill.engine.number("--pp-size"), decode.engine.number("--pp-size")
    if stages[1] not in (1, stages[0]):
        why = "decode has one pipeline stage, or as many as prefill"
        yield _unequal("pipeline_parallel", "--pp-size", stages[0], stages[1], why, "Leave --pp-size of decode out")


def _parallel(half: Half) -> Iterator[Reason]:
    """What one half's own degree of tensor parallelism must divide."""
    degree = half.engine.number("--tp-size")
    shape, group = half.shape, half.quantization.group
    where = f"{half.role}: --tp-size"
    fix = "Choose a smaller --tp-size"
    if shape.heads % degree:
        message = f"{degree} does not divide the {shape.heads} attention heads"
        yield Reason(Verdict.REFUSED, "tensor_parallel", where, message, fix)
    if not shape.latent and shape.kv_heads % degree and degree % shape.kv_heads:
        message = f"{degree} GPUs can neither share nor repeat {shape.kv_heads} KV heads evenly"
        yield Reason(Verdict.REFUSED, "tensor_parallel", where, message, fix)
    if half.engine.instance is not None and degree > max(half.engine.instance.gpus, 1):
        message = f"{half.engine.instance.type} has {half.engine.instance.gpus} GPUs"
        yield Reason(Verdict.REFUSED, "tensor_parallel", where, message, fix)
    width = shape.feed_forward_width
    if group and width and (width % degree or (width // degree) % group):
        message = f"a GPU's {width / degree:g} columns of the feed-forward layers are no multiple of the {group} that share a scale"
        yield Reason(Verdict.REFUSED, "group_size", where, message, f"{fix}, or quantize with a smaller group")


def _scheme(half: Half) -> Iterator[Reason]:
    found, engine = half.quantization, half.engine
    where = f"{half.role}: {half.files.where}"
    flag = engine.value("--quantization")
    if flag and found.method and found.method not in (flag, *FLAG_METHODS.get(flag, ())):
        message = f"--quantization {flag} is not for a {found.method} checkpoint; the engine ends at start"
        yield Reason(
            Verdict.REFUSED, "quantization_flag", where, message, "Leave --quantization out: the checkpoint tells it"
        )
    if flag == "awq" and half.dtype != "float16":
        message = f"--quantization awq computes in float16 only, not in {half.dtype}"
        yield Reason(Verdict.REFUSED, "dtype", where, message, "Leave --quantization out: awq_marlin takes bfloat16")
    if found.unusable and flag != "humming":
        fix = "Write it pack-quantized, keep the attention in high precision, or use w4a16"
        yield Reason(Verdict.REFUSED, "scheme", where, f"{found.described}: {found.unusable}", fix)
        return
    name = _run_as(found, flag)
    if name is None:
        message = f"{found.described}: not a scheme that is known to run on SGLang 0.5.23"
        yield Reason(Verdict.UNPROVED, "scheme", where, message, f"Use one of: {', '.join(schemes())}")
        return
    if engine.capability is not None and engine.instance is not None:
        yield from _on_gpu(half, name, where)


def _run_as(found: Quantization, flag: str) -> str | None:
    if flag == "humming":
        return "w4a8-humming"
    return "w8a8-int8" if flag == "w8a8_int8" else found.scheme


def _on_gpu(half: Half, name: str, where: str) -> Iterator[Reason]:
    capability, instance = half.engine.capability, half.engine.instance
    assert capability is not None
    assert instance is not None
    assert instance.accelerator is not None
    scheme, architecture = schemes()[name], "moe" if half.shape.moe else "dense"
    support = scheme.on(capability)
    gpu = f"{instance.accelerator.name} of {instance.type}"
    if support in RUNS and architecture in scheme.architectures:
        if support is Support.UNPROVED:
            message = f"{name} on {gpu}: the loader takes it, and nobody was seen running it"
            yield Reason(
                Verdict.UNPROVED,
                "scheme",
                where,
                message,
                f"Prove it there, or use {_nearest(half, capability, proved=True)}",
            )
        return
    what = f"runs no {architecture} model" if support in RUNS else f"is {support.value} there: {scheme.note}"
    yield Reason(
        Verdict.REFUSED, "scheme", where, f"{name} on {gpu}: {what}", f"Nearest that can: {_nearest(half, capability)}"
    )


def _nearest(half: Half, capability: int, *, proved: bool = False) -> str:
    """The scheme with the nearest weights that this GPU runs."""
    wanted = schemes()[half.quantization.scheme or PLAIN]
    architecture = "moe" if half.shape.moe else "dense"
    able = [
        scheme
        for scheme in schemes().values()
        if scheme.runs(capability, architecture) and not (proved and scheme.on(capability) is Support.UNPROVED)
    ]
    best = min(
        able,
        key=lambda s: (
            abs(s.weight_bits - wanted.weight_bits),
            abs(s.activation_bits - wanted.activation_bits),
            s.on(capability) is Support.UNPROVED,
        ),
    )
    return best.name


def _unequal(code: str, name: str, left: Any, right: Any, why: str, fix: str) -> Reason:
    return Reason(Verdict.INCOMPATIBLE, code, name, f"prefill has {left}, decode has {right}: {why}", fix)


def _short(value: Any, other: Any) -> str:
    """A long list by what differs in it."""
    if isinstance(value, tuple | list) and isinstance(other, tuple | list) and len(str(value)) > 60:
        differing = [each for each in value if each not in other]
        if differing:
            return ", ".join(str(each) for each in differing)
        return f"{len(value)} entries in another order"
    return str(value)
