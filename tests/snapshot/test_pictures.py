"""The README's pictures show what the program draws now."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.pictures import FOLDER, SCENES, bare, drawn, text_of

README = Path(__file__).resolve().parents[2] / "README.md"


@pytest.mark.parametrize("name", SCENES)
async def test_a_picture_is_what_the_program_draws(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    held = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert text_of(held) == text_of(await drawn(name)), "make pictures draws them again"
    assert len(held) < 200_000 and "http" not in re.sub(r'xmlns="[^"]*"', "", held)


def test_the_readme_shows_every_picture_there_is() -> None:
    shown = re.findall(r"\]\(docs/pictures/(\w+)\.svg\)", README.read_text(encoding="utf-8"))
    assert sorted(shown) == sorted(SCENES) == sorted(one.stem for one in FOLDER.glob("*.svg"))


def test_a_picture_asks_for_no_font_from_elsewhere() -> None:
    svg = '<style>\n  @font-face {\n  src: url("https://a/b")\n }\n .t { font-family: Fira Code, x; }\n</style>\n'
    assert "https" not in bare(svg) and "monospace" in bare(svg) and text_of("<text x='1'>a</text>") == ["a"]
