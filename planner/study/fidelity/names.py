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
        said = words(text)
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
        """The model whose id a name begins with, publisher and ending left off.

        The longest id wins: ``Qwen/Qwen3-32B-FP8`` is ``qwen3-32b``.
        """
        name = text.rpartition("/")[2].lower().replace("_", "-")
        fitting = [one for one in self.catalog.ids(Model) if name == one or name.startswith(f"{one}-")]
        return self.catalog.entry(Model, max(fitting, key=len)) if fitting else None

    def model_of_shape(self, arch: Arch) -> Entry[Model] | None:
        """The model of the catalog whose layers, width, heads, vocabulary and experts are those given."""
        if arch.layers is None or arch.hidden is None:
            return None
        return next((entry for entry in self._models if _same_shape(entry.item, arch)), None)

    @cached_property
    def _models(self) -> list[Entry[Model]]:
        return [self.catalog.entry(Model, one) for one in self.catalog.ids(Model)]


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
