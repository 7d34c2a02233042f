"""Measured files' names of accelerators and models as items of the catalog."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from planner.catalog.llm import Model
from planner.catalog.schema import Accelerator, Server
from planner.catalog.store import Catalog, Entry
from planner.study.fidelity.schema import Arch

FORMS = frozenset({"sxm", "pcie", "nvl"})
"""Form factors that share a chip's name."""
_PIECE = re.compile(r"[a-z]+[0-9]+[a-z]*|[0-9]+[a-z]+|[a-z]+|[0-9]+")


def words(text: str) -> list[str]:
    """Words of a name in small letters: a chip's letters and digits stay together.

    >>> words("NVIDIA H100-SXM5-80GB"), words("a100_sxm")
    (['nvidia', 'h100', 'sxm5', '80gb'], ['a100', 'sxm'])
    """
    return _PIECE.findall(text.lower())


_CHIP_SPELLINGS = (
    (r"\b(\d+)x(?=[a-z])", r"\1 x "), (r"(?<=[a-z]\d00)x(\d+)\b", r" x \1"), (r"(?<=[hb]\d00)(?=sxm|pcie|nvl)", " "),
    (r"\bgaudi[ -](?=[23])", "gaudi"), (r"\bhl-?2\d\d\w?\b", "gaudi2"), (r"\bhl-?3\d\d\w?\b", "gaudi3"), (r"\btrn(?=[23]\b)", "trainium"), (r"\btrillium\b", "tpu v6e"),
    (r"\bironwood\b|\btpu[ _-]?v?7x?\b", "tpu 7x"), (r"\bv5 ?lite(pod)?\b", "v5e"), (r"(?<!tpu[ _-])\bv(?=(5e|5p|6e)\b)", "tpu v"), (r"\bmi(300|325|350|355)\b", r"mi\1x"),
    (r"\brtx[ _-]?(pro)?[ _-]?6000[ _-]?(pro)?(?=[ _-]|$)(?![ _-]?ada)", "rtx pro 6000"),
)  # fmt: skip


def plain_chip_name(text: str) -> str:
    """An accelerator's name in the catalog's spelling, counts apart.

    >>> plain_chip_name("8xH100"), plain_chip_name("Gaudi 3"), plain_chip_name("rtx6000_pro")
    ('8 x h100', 'gaudi3', 'rtx pro 6000')
    """
    name = text.lower()
    for wrong, right in _CHIP_SPELLINGS:
        name = re.sub(wrong, right, name)
    return name


@dataclass(frozen=True, slots=True)
class Chip:
    """An accelerator of the catalog that a name stands for.

    Attributes:
        assumed: What the name leaves open and was settled here; empty where nothing was.
    """

    entry: Entry[Accelerator]
    assumed: tuple[str, ...] = ()


class Names:
    """Looks names up in a catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._chips: dict[str, Chip | str] = {}

    def chip(self, text: str) -> Chip | str:
        """The accelerator that a name speaks of, or why there is none."""
        if text not in self._chips:
            self._chips[text] = self._find_chip(text)
        return self._chips[text]

    @cached_property
    def _heads(self) -> dict[str, tuple[tuple[str, ...], Entry[Accelerator]]]:
        """Leading words of each id (its chip), by id."""
        found = {}
        for item_id in self.catalog.ids(Accelerator):
            head: list[str] = []
            for word in words(item_id):
                if head and (_form(word) or re.fullmatch(r"\d+gb", word)):
                    break
                head.append(word)
            found[item_id] = (tuple(head), self.catalog.entry(Accelerator, item_id))
        return found

    def _find_chip(self, text: str) -> Chip | str:
        said = words(plain_chip_name(text))
        heads = {head for head, _ in self._heads.values() if _stands(head, said)}
        # the name of one chip may begin that of another, as h100 in none and tpu in tpu-v5p
        heads = {
            head for head in heads if not any(head != other and _stands(head, list(other)) for other in heads)
        }
        if not heads:
            return f"no accelerator of the catalog is called '{text}'"
        if len(heads) > 1:
            names = " and ".join(sorted("-".join(head) for head in heads))
            return f"'{text}' speaks of several accelerators: {names}"
        kin = [entry for head, entry in self._heads.values() if head in heads]
        return _closest(kin, said, text)

    def server(self, chip: Chip) -> Entry[Server] | None:
        """The first server of the catalog that brings the accelerator and can be ordered."""
        return self._servers.get(chip.entry.item.id)

    @cached_property
    def _servers(self) -> dict[str, Entry[Server]]:
        """That server, by accelerator."""
        found: dict[str, Entry[Server]] = {}
        for item_id in self.catalog.ids(Server):
            entry = self.catalog.entry(Server, item_id)
            if entry.item.orderable:
                found.setdefault(entry.item.accelerator, entry)
        return found

    def model(self, text: str) -> Entry[Model] | None:
        """The model that a name speaks of, whoever published the checkpoint.

        Of several ids in a name the last one counts, of those the longest: ``DeepSeek-R1-0528-Qwen3-8B`` is a
        ``qwen3-8b``. A name that begins exactly one id means it: ``Qwen3-235B``.
        """
        name = plain_model_name(text)
        found = [
            (at + len(one), len(one), one)
            for one in self.catalog.ids(Model)
            if (at := _within(one, name)) >= 0
        ]
        if found:
            return self.catalog.entry(Model, max(found)[2])
        longer = [one for one in self.catalog.ids(Model) if name and one.startswith(f"{name}-")]
        sized = re.search(r"\d+b$", name) is not None
        return self.catalog.entry(Model, longer[0]) if sized and len(longer) == 1 else None

    def model_of_shape(self, arch: Arch) -> Entry[Model] | None:
        """The model of the catalog whose layers, width, heads, vocabulary and experts are those given."""
        if arch.layers is None or arch.hidden is None:
            return None
        return next((entry for entry in self._models if _same_shape(entry.item, arch)), None)

    @cached_property
    def _models(self) -> list[Entry[Model]]:
        return [self.catalog.entry(Model, one) for one in self.catalog.ids(Model)]


_SPELLINGS: tuple[tuple[str, str], ...] = (
    (r"^.*deepseek-r1-distill-llama-8b", "llama-3.1-8b"), (r"^.*deepseek-r1-distill-llama-70b", "llama-3.3-70b"),
    (r"^.*deepseek-r1-distill-qwen-", "qwen2.5-"), (r"\b(llama|mixtral|qwen|gpt-oss|minimax|glm)(?=\d)", r"\1-"),
    (r"\bqwen-(?=\d)", "qwen"), (r"\bgptoss-?|\bgpt-oss(?=\d)", "gpt-oss-"), (r"\bgpt-?j\b(?!-6b)", "gpt-j-6b"),
    (r"\bllama-?3-?1-(?=\d+b)", "llama-3.1-"), (r"\bqwen-?25-", "qwen2.5-"), (r"\bdeepseek(?=v\d)", "deepseek-"),
    (r"\bnemotron-?4-(?=\d+b)", "nemotron-4-"), (r"\bgpt-?(3-?)?(?=175b)", "gpt-3-"),
    (r"\bllama-3-(?=(8|70|405)b)", "llama-3.1-"), (r"\bllama-3[-p](?=[13]-)", "llama-3."), (r"\bdsr1\b", "deepseek-r1"),
    (r"\bdsv3\b|\bdeepseek-v3\.1\b", "deepseek-v3"), (r"\bminimax-m2(?:\.[17])?(?![.\d])", "minimax-m2.5"),
    (r"\bglm-4\.[56](?![.\d])(?!-(air|flash))", "glm-4.7"), (r"\bkimi-k2\.5\b", "kimi-k2"),
    (r"\bqwen3-480b(-a35b)?", "qwen3-coder-480b-a35b"),
)  # fmt: skip
"""Other spellings and releases of one shape, in the order in which they are put right."""
OTHER_SHAPES = ("v3.2", "flash", "glm-4.7-air", "eagle", "draft")
"""Words of models that share the name of an item and not its shape."""


def plain_model_name(text: str) -> str:
    """A model's name without publisher, in small letters and the catalog's spelling; empty for another shape.

    >>> plain_model_name("meta-llama/Meta-Llama-3.1-8B-Instruct"), plain_model_name("LLAMA2_70B")
    ('meta-llama-3.1-8b-instruct', 'llama-2-70b')
    >>> plain_model_name("deepseek-ai/DeepSeek-R1-Distill-Llama-70B"), plain_model_name("nvidia/GLM-4.7-Flash")
    ('llama-3.3-70b', '')
    """
    name = text.strip().rstrip("/").rpartition("/")[2].lower()
    name = re.sub(r"[\s_:@]+", "-", name)
    if any(word in name for word in OTHER_SHAPES):
        return ""
    for wrong, right in _SPELLINGS:
        name = re.sub(wrong, right, name)
    return name


def _within(item_id: str, name: str) -> int:
    """Where an id's last whole mention in a name begins; -1 without one."""
    places = [
        found.start() for found in re.finditer(rf"(?<![a-z0-9.]){re.escape(item_id)}(?![a-z0-9.])", name)
    ]
    return places[-1] if places else -1


def _same_shape(item: Model, arch: Arch) -> bool:
    pairs: list[tuple[int | None, int]] = [
        (arch.layers, item.layers), (arch.hidden, item.hidden), (arch.heads, item.heads),
        (arch.kv_heads, item.kv_heads), (arch.vocab, item.vocabulary),
        (arch.moe.experts if arch.moe else None, item.experts),
    ]  # fmt: skip
    return bool(item.experts) == bool(arch.moe) and all(given is None or given == own for given, own in pairs)


def _form(word: str) -> str:
    """Form factor that a word names, its generation left off; empty where it names none.

    >>> _form("sxm5"), _form("nvl72"), _form("80gb")
    ('sxm', '', '')
    """
    stem = word.rstrip("0123456789")
    digits = word[len(stem) :]
    return stem if stem in FORMS and len(digits) < 2 else ""


def _stands(head: tuple[str, ...], said: list[str]) -> bool:
    """Whether the words of a chip's name follow one another in a text."""
    size = len(head)
    return any(tuple(said[at : at + size]) == head for at in range(len(said) - size + 1))


def _closest(kin: list[Entry[Accelerator]], said: list[str], text: str) -> Chip:
    """The variant whose form and memory a text names; else the SXM one with the most memory."""
    forms = {_form(word) for word in said} - {""}
    sizes = {word for word in said if re.fullmatch(r"\d+gb", word)}

    def merit(entry: Entry[Accelerator]) -> tuple[bool, bool, bool, float]:
        own = words(entry.item.id)
        form = next((found for word in own if (found := _form(word))), "")
        return (
            bool(forms) and form in forms,
            bool(sizes & set(own)),
            form in ("sxm", ""),
            entry.item.memory_mib.value,
        )

    best = max(kin, key=merit)
    said_alike = [merit(one)[:2] for one in kin].count(merit(best)[:2])
    own_size = any(re.fullmatch(r"\d+gb", word) for word in words(best.item.id))
    other_size = bool(sizes) and own_size and not merit(best)[1]
    if said_alike > 1 or other_size:
        return Chip(best, (f"'{text}' taken as {best.item.id}",))
    return Chip(best)
