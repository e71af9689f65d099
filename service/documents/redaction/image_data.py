"""Encoded image data of a PDF, of which nothing but the pixels stays: decoded, and encoded anew.

A JPEG is encoded with its own tables, so it looks the same. Of other data the samples are unpacked, cut to their rows,
and packed anew, with the filters of PNG if they were predicted before.
"""

from __future__ import annotations

import io
import zlib
from typing import Any

import numpy as np
import pikepdf
from pikepdf import Array, Dictionary, Name
from PIL import Image
from PIL.JpegImagePlugin import JpegImageFile, get_sampling

JPEG = ("/DCTDecode", "/DCT")
MOST_PIXELS = 40_000_000
"""Pixels of an image that is decoded; one with more becomes smaller."""
_RENDERED = ("/CCITTFaxDecode", "/CCF", "/JBIG2Decode", "/JPXDecode", "/Crypt")
_LEVEL = 6
_MODES = {1: "L", 3: "RGB"}


class NotPlain(Exception):
    """The data of an image that cannot be encoded anew as it is: the image must be rendered."""


def same_jpeg(data: bytes, size: tuple[int, int], components: int) -> bytes:
    """A JPEG of this width and height, decoded, and encoded with its own tables.

    Raises:
        NotPlain: it is damaged, or another one.
    """
    written = io.BytesIO()
    try:
        with JpegImageFile(io.BytesIO(data)) as picture:
            if picture.size != size or len(picture.getbands()) != components or size[0] * size[1] > MOST_PIXELS:
                raise NotPlain
            is_progressive = "progressive" in picture.info
            tables, sampling = picture.quantization, get_sampling(picture)
            picture.info = {}
            plain = picture.copy()  # Saving an opened picture asks for the working directory, which a parser has not.
            plain.save(written, "JPEG", qtables=tables, subsampling=sampling, optimize=True, progressive=is_progressive)
    except (OSError, SyntaxError, ValueError) as error:
        raise NotPlain from error
    return written.getvalue()


def cut_samples(data: bytes, width: int, height: int, bits: int) -> bytes:
    """Samples in rows of so many bits, without what follows them, and with nothing in the bits that fill a row up."""
    stride = (width * bits + 7) // 8
    data = data[: stride * height]
    if spare := -width * bits % 8:
        rows = np.frombuffer(data + bytes(-len(data) % stride), np.uint8).reshape(-1, stride).copy()
        rows[:, -1] &= 0xFF << spare & 0xFF
        data = rows.tobytes()[: len(data)]
    return data


def renew_data(pdf: pikepdf.Pdf, image: Any, components: int, bits: int) -> None:
    """Encode the data of an image anew, in place, whose pixels have these components of so many bits.

    Raises:
        NotPlain: this is not how its data is, or it cannot be told.
    """
    filters = filters_of(image)
    last = filters[-1] if filters else ""
    size = int(image["/Width"]), int(image["/Height"])
    if last in _RENDERED or any("/ColorTransform" in each for each in _parameters(image)):
        raise NotPlain
    if last in JPEG:
        image.write(same_jpeg(_without_outer(pdf, image, filters), size, components), filter=Name.DCTDecode)
        return
    data = cut_samples(_unpacked(image), *size, components * bits)
    if bits == 8 and components in _MODES and any("/Predictor" in each for each in _parameters(image)):
        png = Dictionary(Predictor=15, Colors=components, Columns=size[0])
        image.write(_predicted(data, size, components), filter=Name.FlateDecode, decode_parms=png)
    else:
        image.write(zlib.compress(data, _LEVEL), filter=Name.FlateDecode)


def _predicted(data: bytes, size: tuple[int, int], components: int) -> bytes:
    """Samples of 8 bits as the data of a PNG."""
    file, parts = io.BytesIO(), list[bytes]()
    Image.frombytes(_MODES[components], size, data).save(file, "PNG")
    file.seek(len(b"\x89PNG\r\n\x1a\n"))
    while head := file.read(8):
        content = file.read(int.from_bytes(head[:4], "big"))
        parts += [content] if head[4:] == b"IDAT" else []
        file.seek(4, io.SEEK_CUR)  # A check sum.
    return b"".join(parts)


def filters_of(image: Any) -> list[str]:
    filters = image.get("/Filter", Array([]))
    return [str(each) for each in filters] if isinstance(filters, Array) else [str(filters)]


def _unpacked(image: Any) -> bytes:
    try:
        return bytes(image.read_bytes())
    except pikepdf.PdfError as error:
        raise NotPlain from error


def _parameters(image: Any) -> list[Any]:
    held = image.get("/DecodeParms")
    return [each for each in (held if isinstance(held, Array) else (held,)) if isinstance(each, Dictionary)]


def _without_outer(pdf: pikepdf.Pdf, image: Any, filters: list[str]) -> bytes:
    """The data of an image as its last filter has it."""
    if len(filters) == 1:
        return bytes(image.read_raw_bytes())
    parameters = image.get("/DecodeParms")
    outer = Array(list(parameters)[:-1]) if isinstance(parameters, Array) else None
    packed = pikepdf.Stream(pdf, b"")
    packed.write(image.read_raw_bytes(), filter=Array(map(Name, filters[:-1])), decode_parms=outer)
    return _unpacked(packed)
