"""What each collective moves, as nccl-tests counts it: sizes, elements, bus bandwidth factors, test values.

Source: nccl-tests (src/*.cu and doc/PERFORMANCE.md). The size of an all-gather is what each rank receives,
of a reduce-scatter what each rank gives, of an all-to-all what each rank gives; all are per rank. Parts are
cut to whole 16 bytes. Bus bandwidth is algorithm bandwidth times a factor that makes it comparable with the
rate of the hardware's link, whatever the number of ranks.
"""

from __future__ import annotations

from dataclasses import dataclass

OPS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "sendrecv")
ELEMENT_BYTES = {"bf16": 2, "fp32": 4, "fp8": 1}
SUMMING = frozenset({"all_reduce", "reduce_scatter"})
IN_PLACE = frozenset({"all_reduce", "broadcast"})
SMALL_BYTES = 256 * 1024
KIB, GIB = 1024, 1024**3

# bf16 holds whole numbers to 256 and fp8 e4m3 to 16, so that a sum of so many small ones is exact in any order.
_EXACT_WHOLE = {"bf16": 256, "fp32": 256, "fp8": 16}
# Prime, and none divides 7 or 13 (the steps by element and by rank below).
_SUM_MODULI = (17, 11, 5, 3)
_COPY_MODULUS = {"bf16": 251, "fp32": 251, "fp8": 31}
ELEMENT_STEP, RANK_STEP = 7, 13


def bus_factor(op: str, ranks: int) -> float:
    """Bus bandwidth over algorithm bandwidth.

    >>> bus_factor("all_reduce", 8), bus_factor("all_gather", 2), bus_factor("broadcast", 8)
    (1.75, 0.5, 1.0)
    """
    if op == "all_reduce":
        return 2.0 * (ranks - 1) / ranks
    if op in ("all_gather", "reduce_scatter", "all_to_all"):
        return (ranks - 1) / ranks
    if op in ("broadcast", "sendrecv"):
        return 1.0
    raise ValueError(f"no collective '{op}'")


@dataclass(frozen=True)
class Counts:
    """Elements a rank gives and receives, and the size in bytes that is reported."""

    send: int
    receive: int
    size_bytes: int


def counts(op: str, asked_bytes: int, element_bytes: int, ranks: int) -> Counts:
    """Elements for a size asked for; the size that results may be smaller by a little.

    >>> counts("all_gather", 1024, 2, 2)
    Counts(send=256, receive=512, size_bytes=1024)
    """
    whole = asked_bytes // element_bytes
    if op in ("all_gather", "reduce_scatter", "all_to_all"):
        grain = 16 // element_bytes
        part = whole // ranks // grain * grain
        total = part * ranks
        send = part if op == "all_gather" else total
        receive = part if op == "reduce_scatter" else total
        return Counts(send, receive, total * element_bytes)
    if op not in OPS:
        raise ValueError(f"no collective '{op}'")
    return Counts(whole, whole, whole * element_bytes)


def sizes_bytes(least: int, most: int, factor: int) -> list[int]:
    """Sizes from least to most by a factor.

    >>> sizes_bytes(1024, 8192, 2)
    [1024, 2048, 4096, 8192]
    """
    found = []
    size = least
    while size <= most:
        found.append(size)
        size *= factor
    return found


def bounded_bytes(most: int, free_bytes: int, *, share: float = 0.8) -> int:
    """Largest size not over `most` of which two buffers fit in a share of the free memory.

    >>> bounded_bytes(8 * GIB, 10 * GIB) // GIB
    4
    """
    size = most
    while size > KIB and 2 * size > free_bytes * share:
        size //= 2
    return size


def modulus(op: str, dtype: str, ranks: int) -> int:
    """Period of the test pattern: the values are whole numbers from -(m-1)/2 to (m-1)/2.

    Moved data uses the widest range the type holds exactly. A sum over all ranks must stay exact too,
    partial sums in any order included, so its values shrink with the number of ranks.

    >>> modulus("broadcast", "bf16", 8), modulus("all_reduce", "bf16", 8), modulus("all_reduce", "bf16", 200)
    (251, 17, 3)
    """
    if op not in SUMMING:
        return _COPY_MODULUS[dtype]
    for candidate in _SUM_MODULI:
        if (candidate - 1) // 2 * ranks <= _EXACT_WHOLE[dtype]:
            return candidate
    return _SUM_MODULI[-1]


def contributing(rank: int, op: str, dtype: str, ranks: int) -> bool:
    """Whether a rank's values differ from zero; beyond 256 ranks a bf16 sum is exact only if few of them do."""
    if op not in SUMMING or ranks <= _EXACT_WHOLE[dtype]:
        return True
    return rank % -(-ranks // _EXACT_WHOLE[dtype]) == 0


def rank_shift(rank: int, period: int) -> int:
    """How many elements further into the periodic pattern a rank's data starts.

    The value at element i of rank r is (7 i + 13 r) mod m, centred; a whole shift of i gives the same.
    """
    return RANK_STEP * rank * pow(ELEMENT_STEP, -1, period) % period


def value(index: int, rank: int, period: int) -> int:
    """The test value itself, for tests and for the reader.

    >>> value(0, 1, 17), value(rank_shift(1, 17), 0, 17)
    (5, 5)
    """
    return (ELEMENT_STEP * index + RANK_STEP * rank) % period - (period - 1) // 2


def parse_bytes(text: str) -> int:
    """A size as typed, with a binary suffix.

    >>> parse_bytes("64M"), parse_bytes("1GiB"), parse_bytes("4096")
    (67108864, 1073741824, 4096)
    """
    word = text.strip().upper().removesuffix("B").removesuffix("I")
    scale = {"K": 1024, "M": 1024**2, "G": 1024**3}.get(word[-1:], 1)
    number = word if scale == 1 else word[:-1]
    try:
        found = int(float(number) * scale)
    except ValueError:
        raise ValueError(f"'{text}' is no size; write 4096, 64K, 16M or 8G") from None
    if found < 1:
        raise ValueError(f"'{text}' is no size; it must be 1 byte or more")
    return found
