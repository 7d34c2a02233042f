"""Gives the look of input cells the name `Input`, which XlsxWriter has no call for.

A cell style is an entry of ``styles.xml`` that cell formats point to. The package is written anew
with that one part changed and everything else as it was.
"""

from __future__ import annotations

import re
import zipfile
from io import BytesIO
from typing import Final

_STYLES: Final = "xl/styles.xml"
_INPUT: Final = 20
"""Number of Excel's built-in style `Input`."""
_FIXED_TIME: Final = (1980, 1, 1, 0, 0, 0)


def name_the_input_style(package: bytes, *, font: str, fill: str) -> bytes:
    """The package with a style `Input` on every format that has this font colour and fill."""
    found = BytesIO()
    with zipfile.ZipFile(BytesIO(package)) as old, zipfile.ZipFile(found, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            data = old.read(name)
            if name == _STYLES:
                data = with_input_style(data.decode(), font=font, fill=fill).encode()
            entry = zipfile.ZipInfo(name, _FIXED_TIME)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o600 << 16
            new.writestr(entry, data, compresslevel=4)
    return found.getvalue()


def with_input_style(xml: str, *, font: str, fill: str) -> str:
    """Text of ``styles.xml`` with the style; unchanged where no format looks like an input."""
    fonts = _with_colour(xml, "fonts", "font", font)
    fills = _with_colour(xml, "fills", "fill", fill)
    formats = re.search(r"<cellXfs count=\"\d+\">.*?</cellXfs>", xml, re.DOTALL)
    assert formats is not None
    looks = [
        match
        for match in re.finditer(
            r'<xf numFmtId="\d+" fontId="(\d+)" fillId="(\d+)" borderId="(\d+)" xfId="0"', formats[0]
        )
        if int(match[1]) in fonts and int(match[2]) in fills
    ]
    if not looks:
        return xml
    changed = formats[0]
    for look in {match[0] for match in looks}:
        changed = changed.replace(look, look.replace('xfId="0"', 'xfId="1"'))
    _, font_id, fill_id, border_id = looks[0][0], looks[0][1], looks[0][2], looks[0][3]
    style = (
        f'<xf numFmtId="0" fontId="{font_id}" fillId="{fill_id}" borderId="{border_id}" applyNumberFormat="0">'
        '<protection locked="0"/></xf>'
    )
    xml = xml.replace(formats[0], changed)
    xml = re.sub(
        r'<cellStyleXfs count="1">(.*?)</cellStyleXfs>', rf'<cellStyleXfs count="2">\1{style}</cellStyleXfs>', xml,
        flags=re.DOTALL,
    )  # fmt: skip
    return re.sub(
        r'<cellStyles count="1">(.*?)</cellStyles>',
        rf'<cellStyles count="2"><cellStyle name="Input" xfId="1" builtinId="{_INPUT}" customBuiltin="1"/>\1</cellStyles>', xml,
        flags=re.DOTALL,
    )  # fmt: skip


def _with_colour(xml: str, group: str, item: str, colour: str) -> set[int]:
    """Numbers of the fonts or fills that have a colour."""
    block = re.search(rf"<{group} [^>]*>(.*?)</{group}>", xml, re.DOTALL)
    assert block is not None
    rgb = f'rgb="FF{colour.lstrip("#")}"'
    return {
        number
        for number, text in enumerate(re.findall(rf"<{item}>.*?</{item}>", block[1], re.DOTALL))
        if rgb in text
    }
