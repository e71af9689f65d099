"""Images of a PDF, made to hold nothing but the pixels that they show.

The rules:
- An image keeps the keys listed here. Its data is decoded and encoded anew as it was.
- An image is rendered by itself, and that put in its stead, if its dictionary may hide something (masks over what is
  not even, decoding that maps colours to one, palettes with a colour twice, named colours), or if its data is CCITT,
  JBIG2, JPEG 2000, or damaged.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pikepdf
import pypdfium2
import pypdfium2.raw as pdfium
from pikepdf import Array, Dictionary, Name, String
from PIL import Image
from PIL.TiffImagePlugin import TiffImageFile

from service.documents.pdf.drawing import Pixels, drawn, in_fewest_components
from service.documents.pdf.reader import loaded_page
from service.documents.redaction.image_data import JPEG, MOST_PIXELS, NotPlain, cut_samples, filters_of, renew_data

_KEYS = frozenset(
    "/Type /Subtype /Width /Height /ColorSpace /BitsPerComponent /Decode /Interpolate /ImageMask /Mask /SMask /OC"
    " /SMaskInData /Length /Filter /DecodeParms".split()
)
_COMPONENTS = {"/DeviceGray": 1, "/CalGray": 1, "/DeviceRGB": 3, "/CalRGB": 3, "/DeviceCMYK": 4,
               "/G": 1, "/RGB": 3, "/CMYK": 4}  # fmt: skip
UNSEEN = 8
"""Levels, of 255, of opacity or between colours, below which nothing is seen."""
_OPAQUE = 255
_JPEG_2000 = "/JPXDecode"
_QUALITY, _LOSSLESS = 92, 3
"""Quality of a JPEG that was another one; the rate below which JPEG 2000 is without loss."""
_LEVEL = 6
_HALF = 128
_ROWS_OF_STRIP, _STRIP_STARTS, _STRIP_SIZES = 278, 273, 279  # tags of a TIFF

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Colours:
    """The components of an image's pixels, the bits of each, and the number of its palette's colours, if it has one."""

    components: int
    bits: int
    palette: int = 0


def clean_images(pdf: pikepdf.Pdf, images: Iterable[Any]) -> None:
    """Make images of a file, in place, hold nothing but the pixels that they show."""
    for image in images:
        for key in set(image.keys()) - _KEYS:
            del image[key]
        try:
            _clean(pdf, image)
        except (NotPlain, TypeError, ValueError, KeyError, IndexError, AttributeError, ArithmeticError):
            if _is_plain_bits(image):
                bits = rendered(image, is_gray=True) >= _HALF
                _put_bits(image, bits)
                image.update(new_image(bits.shape[1], bits.shape[0]))
            else:
                put_shown(pdf, image, rendered(image))


def _is_plain_bits(image: Any) -> bool:
    """True for an image of black and white that is not masked, such as a fax."""
    plain = {"/Width", "/Height", "/BitsPerComponent", "/ColorSpace", "/Type", "/Subtype", "/Length", "/Filter"}
    has_more = set(image.keys()) - plain - {"/DecodeParms", "/Interpolate"}
    return not has_more and image.get("/BitsPerComponent") == 1 and image.get("/ColorSpace") == Name.DeviceGray


def _clean(pdf: pikepdf.Pdf, image: Any) -> None:
    """Encode an image's data anew.

    Raises:
        NotPlain: it must be rendered.
    """
    colours = _plain_colours(image)
    if colours.palette:
        _clean_palette(image, colours)
        return
    masks = [image[key] for key in ("/SMask", "/Mask") if key in image]
    for mask in masks:
        if not isinstance(mask, pikepdf.Stream) or "/Matte" in mask or "/SMask" in mask or "/Mask" in mask:
            raise NotPlain
        for key in set(mask.keys()) - _KEYS:
            del mask[key]
        own = _plain_colours(mask)
        if own.components != 1 or own.palette:
            raise NotPlain
        if (shown := _shown_over_hidden(image)) is not None:
            put_shown(pdf, image, shown)
            return
        renew_data(pdf, mask, 1, own.bits)
    renew_data(pdf, image, colours.components, colours.bits)


def _plain_colours(image: Any) -> _Colours:
    """The colours of an image.

    Raises:
        NotPlain: different pixels may look the same, or it cannot be told.
    """
    width, height = int(image["/Width"]), int(image["/Height"])
    if width <= 0 or height <= 0:
        raise NotPlain
    if image.get("/ImageMask") is True:
        _check_decode(image, 1)
        return _Colours(1, 1)
    space = image.get("/ColorSpace")
    bits = int(image.get("/BitsPerComponent", 8))
    family = str(space[0]) if isinstance(space, Array) else str(space)
    if family in ("/Indexed", "/I") and isinstance(space, Array):
        if "/Decode" in image:
            raise NotPlain
        return _Colours(1, bits, palette=int(space[2]) + 1)
    components = _components(space)
    if bits not in (1, 2, 4, 8):
        raise NotPlain
    _check_decode(image, components)
    return _Colours(components, bits)


def _components(space: Any) -> int:
    family = str(space[0]) if isinstance(space, Array) else str(space)
    if family not in _COMPONENTS:
        raise NotPlain
    return _COMPONENTS[family]


def _check_decode(image: Any, components: int) -> None:
    """Refuse a map of samples to colours that is neither the usual one nor its inverse."""
    decode = image.get("/Decode")
    if decode is not None and [float(each) for each in decode] not in ([0, 1] * components, [1, 0] * components):
        raise NotPlain


def _clean_palette(image: Any, colours: _Colours) -> None:
    """Cut an image with a palette, which keeps the colours that are used.

    Raises:
        NotPlain: it has a colour twice, or is masked.
    """
    space = image["/ColorSpace"]
    components, table = _components(space[1]), space[3]
    if colours.bits != 8 or _is_lossy(image) or "/SMask" in image or "/Mask" in image:
        raise NotPlain
    data = cut_samples(bytes(image.read_bytes()), int(image["/Width"]), int(image["/Height"]), 8)
    used = np.flatnonzero(np.bincount(np.frombuffer(data, np.uint8), minlength=256))
    entries = np.frombuffer(table.read_bytes() if isinstance(table, pikepdf.Stream) else bytes(table), np.uint8)
    entries = entries[: colours.palette * components].reshape(-1, components)
    if not len(used) or used[-1] >= len(entries) or len(np.unique(entries[used], axis=0)) < len(used):
        raise NotPlain
    kept = np.zeros((used[-1] + 1, components), np.uint8)
    kept[used] = entries[used]
    image["/ColorSpace"] = Array([Name.Indexed, space[1], len(kept) - 1, String(kept.tobytes())])
    image.write(zlib.compress(data, _LEVEL), filter=Name.FlateDecode)


def _shown_over_hidden(image: Any) -> Pixels | None:
    """The pixels of an image that has several colours where it is transparent; None: it has not."""
    shown = rendered(image)
    alpha = shown[..., 3]
    with pikepdf.new() as alone:
        bare = alone.copy_foreign(image)
        for key in ("/SMask", "/Mask"):
            if key in bare:
                del bare[key]
        below = rendered(bare)[..., :3][alpha == 0]
    is_faint = bool(((alpha > 0) & (alpha < UNSEEN)).any())
    hides = is_faint or (len(below) > 0 and bool((np.ptp(below, axis=0) >= UNSEEN).any()))
    return shown if hides else None


def rendered(image: Any, *, is_gray: bool = False) -> Pixels:
    """uint8 [height, width, 4]: an image by itself, in red, green, blue and opacity; a stencil is black.

    Args:
        is_gray: on white, uint8 [height, width].
    """
    layers = [image, *(image[key] for key in ("/SMask", "/Mask") if isinstance(image.get(key), pikepdf.Stream))]
    wide, high = (max(int(each.get(key, 1)) for each in layers) for key in ("/Width", "/Height"))
    scale = min(1.0, (MOST_PIXELS / (wide * high)) ** 0.5)
    wide, high = max(round(wide * scale), 1), max(round(high * scale), 1)
    written = io.BytesIO()
    with pikepdf.new() as alone:
        own = alone.copy_foreign(image)
        page = Dictionary(
            Type=Name.Page, MediaBox=Array([0, 0, wide, high]), Resources=Dictionary(XObject=Dictionary(I=own))
        )
        page["/Contents"] = pikepdf.Stream(alone, b"%d 0 0 %d 0 0 cm /I Do" % (wide, high))
        alone.pages.append(pikepdf.Page(page))
        alone.save(written)
    with closing(pypdfium2.PdfDocument(written.getvalue())) as document, loaded_page(document, 1) as loaded:
        if is_gray:
            return drawn(loaded, (wide, high), kind=pdfium.FPDFBitmap_Gray, flags=pdfium.FPDF_GRAYSCALE)
        return drawn(loaded, (wide, high), kind=pdfium.FPDFBitmap_BGRA, ground=0)


def put_shown(pdf: pikepdf.Pdf, image: Any, pixels: Pixels) -> None:
    """Make an image these pixels; where they are transparent they have one colour."""
    alpha, lossy = pixels[..., 3], (filters_of(image)[-1], len(image.read_raw_bytes())) if _is_lossy(image) else None
    is_stencil = image.get("/ImageMask") is True
    kept = {key: image[key] for key in ("/OC", "/Interpolate") if key in image}
    for key in set(image.keys()) - {"/Length"}:
        del image[key]
    if is_stencil:
        _put_bits(image, alpha < _HALF)
        image["/ImageMask"] = True
    else:
        colours, is_opaque = np.ascontiguousarray(pixels[..., :3]), bool((alpha == _OPAQUE).all())
        if not is_opaque:
            alpha = np.where(alpha < UNSEEN, 0, alpha)
            colours[alpha == 0] = _OPAQUE
        seen = colours.reshape(-1, 3) if is_opaque else colours[alpha > 0]
        if len(seen) and (seen.max(axis=0) - seen.min(axis=0) < UNSEEN).all():
            colours[alpha > 0] = np.median(seen, axis=0)
        _put_colours(image, colours, lossy)
        if not is_opaque:
            image["/SMask"] = _mask(pdf, alpha)
    image.update(new_image(alpha.shape[1], alpha.shape[0], **kept))


def new_image(width: int, height: int, **more: Any) -> Dictionary:
    """The dictionary of an image of so many pixels."""
    return Dictionary(Type=Name.XObject, Subtype=Name.Image, Width=width, Height=height, **more)


def _mask(pdf: pikepdf.Pdf, alpha: Pixels) -> Any:
    mask = pdf.make_indirect(pikepdf.Stream(pdf, b""))
    _put_colours(mask, alpha[..., None], None)
    mask.update(new_image(alpha.shape[1], alpha.shape[0]))
    return mask


def _is_lossy(image: Any) -> bool:
    return bool({*JPEG, _JPEG_2000} & {*filters_of(image)[-1:]})


def _put_colours(image: Any, colours: Pixels, lossy: tuple[str, int] | None) -> None:
    """Give an image uint8 [height, width, 1 or 3] as its data, in as few components and bits as they need.

    Args:
        lossy: the filter and the bytes of the data that was lossy.
    """
    colours = in_fewest_components(colours)
    is_gray = colours.ndim == 2
    if is_gray and bool(((colours == 0) | (colours == _OPAQUE)).all()):
        _put_bits(image, colours > 0)
    elif lossy is not None:
        file, plain = io.BytesIO(), Image.fromarray(colours)
        if lossy[0] == _JPEG_2000:
            rate = max(plain.width * plain.height * len(plain.getbands()) / lossy[1], 1)
            plain.save(file, "JPEG2000", irreversible=rate > _LOSSLESS, quality_layers=[rate])
        else:
            plain.save(file, "JPEG", quality=_QUALITY)
        image.write(file.getvalue(), filter=Name(lossy[0]))
    else:
        image.write(zlib.compress(colours.tobytes(), _LEVEL), filter=Name.FlateDecode)
    image["/ColorSpace"] = Name.DeviceGray if is_gray else Name.DeviceRGB
    image["/BitsPerComponent"] = image.get("/BitsPerComponent", 8)


def _put_bits(image: Any, bits: Flags) -> None:
    """Give an image bool [height, width] as its data, as a fax has it (ITU T.6)."""
    file, (high, wide) = io.BytesIO(), bits.shape
    Image.fromarray(bits).save(file, "TIFF", compression="group4", tiffinfo={_ROWS_OF_STRIP: high})
    file.seek(0)
    with TiffImageFile(file) as written:
        start, size = (written.tag_v2[tag][0] for tag in (_STRIP_STARTS, _STRIP_SIZES))
    parameters = Dictionary(K=-1, Columns=wide, Rows=high, BlackIs1=True)
    image.write(file.getvalue()[start : start + size], filter=Name.CCITTFaxDecode, decode_parms=parameters)
    image["/BitsPerComponent"] = 1
