"""Sheets of print as pictures, level or turned, with the places of their words; and the networks that read them."""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cache

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from service.documents.ocr.networks import BUILTIN_WEIGHTS, TextNetworks, load_networks
from service.documents.ocr.straighten import Gray

INVOICE = (
    ((80, 60), "Nordlicht Optik GmbH"),
    ((80, 110), "Invoice No: RE-2026-118"),
    ((80, 150), "Date: 12 March 2026"),
    ((80, 220), "Reading glasses"),
    ((520, 220), "2"),
    ((640, 220), "420.25"),
    ((800, 220), "840.50"),
    ((80, 265), "Lens cloth"),
    ((520, 265), "8"),
    ((640, 265), "50.00"),
    ((800, 265), "400.00"),
    ((640, 330), "Total"),
    ((800, 330), "1240.50"),
    ((80, 420), "IBAN: DE89 3704 0044 0532 0130 00"),
)
WORDS = " ".join(text for _, text in INVOICE).split()


@dataclass(frozen=True)
class Sheet:
    """A picture, and the box of each text on it: left, top, right, bottom."""

    picture: Image.Image
    boxes: dict[str, tuple[float, float, float, float]]

    @property
    def gray(self) -> Gray:
        return np.asarray(self.picture.convert("L"))

    def turned(self, degrees: float) -> Gray:
        """Turned counterclockwise."""
        return np.asarray(turned(self.picture, degrees))

    def file(self, kind: str = "PNG", **options: object) -> bytes:
        """As the bytes of a picture file."""
        written = io.BytesIO()
        self.picture.save(written, kind, **options)
        return written.getvalue()


def turned(picture: Image.Image, degrees: float) -> Image.Image:
    """Turned counterclockwise; the picture grows unless it is turned by a few degrees."""
    grows = degrees % 90 == 0 or abs(degrees) > 3
    return picture.rotate(degrees, expand=grows, fillcolor=255, resample=Image.Resampling.BICUBIC)


def sheet(texts: tuple[tuple[tuple[int, int], str], ...] = INVOICE, size: tuple[int, int] = (1000, 700)) -> Sheet:
    """Texts at places, in letters of 26 pixels."""
    picture = Image.new("L", size, 255)
    draw = ImageDraw.Draw(picture)
    font = ImageFont.load_default(26)
    boxes = {}
    for place, text in texts:
        draw.text(place, text, fill=0, font=font)
        boxes[text] = draw.textbbox(place, text, font=font)
    return Sheet(picture, boxes)


def noise(size: tuple[int, int], spread: float) -> Image.Image:
    """Gray noise, the same each time, of a standard deviation in levels. Pillow's own differs from run to run."""
    width, height = size
    levels = np.random.default_rng(6).normal(128, spread, (height, width))
    return Image.fromarray(levels.clip(0, 255).astype(np.uint8))


@cache
def networks() -> TextNetworks:
    """The networks that ship, loaded once in each test process."""
    return load_networks(BUILTIN_WEIGHTS)
