"""Matrix products: squares, decode's skinny ones, and those of catalog models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from planner.measure.run.cases import Case, run_cases
from planner.measure.run.context import Context
from planner.measure.run.model_shapes import MODELS, shapes
from planner.measure.run.pattern import torch_dtype
from planner.measure.run.timing import Call

SQUARES = (1024, 2048, 3072, 4096, 6144, 8192, 12288, 16384)
SKINNY_ROWS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
MODEL_ROWS = 4096
# Weights read in turn span at least this many times the L2, so that none is still there when its turn comes.
L2_SPANS = 4
MOST_COPIES = 64


def run(context: Context) -> None:
    """Measure all shapes in each type."""
    run_cases(context, "gemm", plan(context))


def plan(context: Context) -> list[Case]:
    """The points of this run in the order of their worth."""
    dtypes = [dtype for dtype in ("bf16", "fp8") if dtype in context.options.dtypes]
    if "fp8" in dtypes and not fp8_possible(context):
        context.note(
            "gemm: fp8 needs compute capability 8.9 or newer and torch._scaled_mm; bf16 alone is measured"
        )
        dtypes.remove("fp8")
    found = [(dtype, *shape) for shape in _shapes(context) for dtype in dtypes]
    return [case(context, *item) for item in found]


def _shapes(context: Context) -> Iterator[tuple[dict[str, Any], int, int, int]]:
    if not context.on_gpu:
        yield {"family": "square"}, 128, 128, 128
        yield {"family": "skinny", "role": "down"}, 1, 256, 128
        return
    for side in (4096, 8192) if context.quick else SQUARES:
        yield {"family": "square"}, side, side, side
    skinny = [("llama-3.1-8b", 1), ("llama-3.1-70b", 1), ("llama-3.1-70b", 8)]
    for model, parallel in skinny[:1] if context.quick else skinny:
        for shape in shapes(model, parallel):
            for rows in (1, 16, 128) if context.quick else SKINNY_ROWS:
                named = {"family": "skinny", "model": model, "tensor_parallel": parallel, "role": shape.role}
                yield named, rows, shape.k, shape.n
    for model in ("llama-3.1-70b",) if context.quick else tuple(MODELS):
        for parallel in (8,) if context.quick else (1, 2, 4, 8):
            for shape in shapes(model, parallel):
                named = {"family": "model", "model": model, "tensor_parallel": parallel, "role": shape.role}
                yield named, MODEL_ROWS, shape.k, shape.n


def case(context: Context, dtype: str, named: dict[str, Any], m: int, k: int, n: int) -> Case:
    """One product of m by k with k by n, out in bf16."""
    width = 2 if dtype == "bf16" else 1
    moved = float((m * k + k * n) * width + m * n * 2)
    skinny = named["family"] == "skinny"
    copies = rotation(context, (m * k + k * n) * width + 2 * m * n) if skinny else 1

    def build(found: dict[str, Any]) -> list[Call]:
        found["rotating_buffers"] = copies
        made = [product(context, dtype, m, k, n) for _ in range(copies)]
        found["relative_error"] = check(context, dtype, *made[0][1])
        return [call for call, _ in made]

    flop = 2.0 * m * n * k
    return Case(
        {**named, "dtype": dtype, "m": m, "k": k, "n": n}, build, flop=flop, moved_bytes=moved, graph=skinny
    )


def rotation(context: Context, set_bytes: int) -> int:
    """How many sets of operands to use in turn, so that the L2 cache holds none of them."""
    if not context.on_gpu:
        return 2
    cache = (
        int(getattr(context.torch.cuda.get_device_properties(context.device), "L2_cache_size", 0)) or 64 << 20
    )
    return max(1, min(MOST_COPIES, -(-L2_SPANS * cache // set_bytes)))


def product(context: Context, dtype: str, m: int, k: int, n: int) -> tuple[Call, tuple[Any, Any, Any]]:
    """A call that multiplies random operands, with its operands (the second as n by k) and its output.

    The weight lies n by k and is multiplied transposed, as layers hold it and as fp8 kernels ask.
    """
    torch = context.torch
    left = torch.randn(m, k, device=context.device, dtype=torch.bfloat16)
    right = torch.randn(n, k, device=context.device, dtype=torch.bfloat16)
    out = torch.empty(m, n, device=context.device, dtype=torch.bfloat16)
    if dtype == "bf16":
        return (lambda: torch.mm(left, right.t(), out=out)), (left, right, torch.mm(left, right.t()))
    kind = torch_dtype(torch, "fp8")
    left8, right8 = left.to(kind), right.to(kind)
    one = torch.ones((), device=context.device, dtype=torch.float32)

    def scaled() -> Any:
        # One scale a tensor; accumulation as inference and training libraries use it for the forward pass.
        return torch._scaled_mm(left8, right8.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16,
                                use_fast_accum=True)  # fmt: skip

    return scaled, (left8, right8, scaled())


def check(context: Context, dtype: str, left: Any, right: Any, out: Any) -> float:
    """Relative error of the last row against the product in double precision.

    Raises:
        RuntimeError: It is larger than rounding explains, or not a number.
    """
    torch = context.torch
    want = (
        right.to(torch.float32).double() @ left[-1].to(torch.float32).double()
        if right.numel() < 1 << 27
        else None
    )
    got = out[-1].double()
    if want is None:
        want = right[:1024].to(torch.float32).double() @ left[-1].to(torch.float32).double()
        got = got[:1024]
    error = float(((got - want).norm() / want.norm()).cpu())
    if not error < (1e-2 if dtype == "bf16" else 5e-2):
        raise RuntimeError(f"wrong result: relative error {error:.3g}")
    return float(f"{error:.2g}")


def fp8_possible(context: Context) -> bool:
    """Whether this device and this torch multiply fp8."""
    torch = context.torch
    if not context.on_gpu or not hasattr(torch, "_scaled_mm"):
        return False
    return bool(torch.cuda.get_device_capability(context.device) >= (8, 9))
