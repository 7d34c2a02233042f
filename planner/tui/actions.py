"""Every action that a key can be given to, by the name that a file of keys uses."""

from __future__ import annotations

from textual.widget import Widget

from planner.tui.browse import CatalogPane
from planner.tui.keymap import BINDINGS
from planner.tui.keys import default_keys
from planner.tui.lines import LinesView
from planner.tui.overlay import Overlay
from planner.tui.panes import ExportPane, WherePane
from planner.tui.parts import PartPicker
from planner.tui.plan import PlanPane
from planner.tui.screen_network import NetworkPane
from planner.tui.start import StartPane


def known_actions() -> dict[str, str]:
    """Default keys by action, of the whole program and of each screen."""
    from planner.tui.screen_calibration import CalibrationPane
    from planner.tui.screen_compare import ComparePane
    from planner.tui.screen_search import SearchPane
    from planner.tui.screen_sensitivity import SensitivityPane
    from planner.tui.screen_study import StudyPane

    kinds: tuple[type[Widget], ...] = (
        LinesView, StartPane, PlanPane, WherePane, NetworkPane, CatalogPane, ExportPane, ComparePane, StudyPane,
        SearchPane, SensitivityPane, CalibrationPane, Overlay, PartPicker,
    )  # fmt: skip
    found = default_keys(BINDINGS)
    for kind in kinds:
        found.update(default_keys(kind.BINDINGS))
    return found
