"""What a group of a scenario holds, in a few words, so that a closed group still tells its contents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from planner.present import format as fmt


def sentence(name: str, value: Any) -> str:
    """Words for a group by its name, or for an item by its class; plain data in, as yet unchecked.

    >>> sentence("Group", {"id": "main", "server": "hgx-h200", "gpus": 1024})
    '1,024 GPUs of hgx-h200'
    >>> sentence("limits", None)
    'none'
    """
    return _SAY[name](value) if name in _SAY else ""


def _get(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _word(value: Any) -> str:
    return fmt.written(value) if isinstance(value, str | int | float | bool) else ""


def _join(*parts: str) -> str:
    return ", ".join(part for part in parts if part)


def _unit(value: Any, unit: str) -> str:
    return f"{_word(value)} {unit}" if _word(value) else ""


def _items(what: str, one: str) -> Callable[[Any], str]:
    def say(value: Any) -> str:
        items = value if isinstance(value, list) else []
        if len(items) == 1:
            return sentence(one, items[0])
        if not items:
            return "none"
        names = ", ".join(_word(_get(item, "id")) for item in items)
        return f"{len(items)} {what}: {names}"

    return say


def _workload(value: Any) -> str:
    verb = {"training": "train", "serving": "serve"}.get(str(_get(value, "kind")), _word(_get(value, "kind")))
    share = _get(value, "share_fraction")
    part = f"{fmt.percent(share, 0)} % of the hours" if isinstance(share, float) and share < 1 else ""
    tokens = _unit(_get(value, "tokens_trillion"), "T tokens")
    return _join(
        f"{verb} {_word(_get(value, 'model'))}".strip(), tokens, _word(_get(value, "precision")), part
    )


def _group(value: Any) -> str:
    said = f"{_unit(_get(value, 'gpus'), 'GPUs')} of {_word(_get(value, 'server'))}"
    phase = _word(_get(value, "phase"))
    return _join(said, f"phase {phase}" if phase else "")


def _cluster(value: Any) -> str:
    groups = _get(value, "groups")
    spare = _get(value, "spare_fraction")
    spares = f"{fmt.percent(spare, 0)} % spare" if isinstance(spare, int | float) and spare else ""
    return _join(_items("groups", "Group")(groups), spares)


def _network(value: Any) -> str:
    topology = _word(_get(value, "topology")) or "rail-optimised"
    storage = _word(_get(value, "storage", "system"))
    return _join(topology, _word(_get(value, "leaf", "switch")), f"storage {storage}" if storage else "")


def _site(value: Any) -> str:
    pue = _word(_get(value, "pue"))
    limit = _unit(_get(value, "limit_mw"), "MW")
    return _join(
        _word(_get(value, "location")), _word(_get(value, "cooling")) or "air", f"PUE {pue}" if pue else "",
        f"limit {limit}" if limit else "",
    )  # fmt: skip


def _money(value: Any) -> str:
    rate, share = _get(value, "discount_rate_fraction"), _get(value, "utilisation_fraction")
    rental = _word(_get(value, "rental"))
    return _join(
        _unit(_get(value, "horizon_months") or 60, "months"),
        f"{fmt.percent(rate, 1)} % a year" if isinstance(rate, int | float) else "",
        f"utilisation {fmt.percent(share if isinstance(share, int | float) else 0.85, 0)} %",
        f"against {rental}" if rental else "",
    )


def _limits(value: Any) -> str:
    usd = _get(value, "capex_usd")
    ttft, tpot = _get(value, "ttft_p99_s"), _get(value, "tpot_p99_s")
    return _join(
        _unit(_get(value, "days"), "days"),
        _unit(_get(value, "site_mw"), "MW"),
        fmt.money(usd) if isinstance(usd, int | float) else "",
        f"TTFT {fmt.duration(ttft)}" if isinstance(ttft, int | float) else "",
        f"TPOT {fmt.duration(tpot)}" if isinstance(tpot, int | float) else "",
        _unit(_get(value, "usd_per_gpu_hour"), "USD/GPUh"),
        _unit(_get(value, "usd_per_mtoken_output"), "USD/Mtok"),
    ) or "none"  # fmt: skip


def _phase(value: Any) -> str:
    return f"ordered {_word(_get(value, 'order'))}, in service {_word(_get(value, 'in_service'))}"


def _override(value: Any) -> str:
    return _join(f"{_word(_get(value, 'value'))} {_word(_get(value, 'unit'))}", _word(_get(value, "reason")))


_SAY: Final[dict[str, Callable[[Any], str]]] = {
    "workloads": _items("workloads", "Workload"),
    "Workload": _workload,
    "cluster": _cluster,
    "Group": _group,
    "network": _network,
    "site": _site,
    "money": _money,
    "limits": _limits,
    "phases": lambda value: _items("phases", "Phase")(value) if value else "one purchase",
    "Phase": _phase,
    "overrides": lambda value: f"{len(value)} values typed over the planner's" if value else "none",
    "OverrideWish": _override,
    "scenario": lambda value: _join(_word(_get(value, "name")), _word(_get(value, "extends"))),
}
