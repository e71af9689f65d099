"""Images of a redacted PDF hold their pixels and nothing else, and look as before (`bare_images`, `image_data`)."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, String
from PIL import Image, ImageDraw
from PIL.JpegImagePlugin import JpegImageFile

from service.documents.redaction.image_data import cut_samples, same_jpeg
from tests.support.drawn_sheets import noise
from tests.support.odd_pdfs import new_pdf, saved
from tests.support.redacted_pdfs import redacted, shown

NAME = "Jane Doe"
NOTE = b"Taken at 52.5200 N 13.4050 E by Maria Muster, Acme GmbH, on a Friday"
LINE = b"BT /F1 12 Tf 60 700 Td (Signed by Jane Doe today) Tj ET q 200 0 0 150 100 400 cm /I Do Q\n"
SIDE = 40
Make = Callable[[pikepdf.Pdf], Any]


def photograph(mode: str = "RGB") -> Image.Image:
    return noise((SIDE, SIDE), 90).convert("RGB").convert(mode)


def image(pdf: pikepdf.Pdf, data: bytes, packed: Any = None, parameters: Any = None, **more: Any) -> Any:
    """An image of 40 by 40 pixels."""
    made = pikepdf.Stream(pdf, b"")
    made.write(data, filter=packed, decode_parms=parameters)
    known = {"Width": SIDE, "Height": SIDE, "BitsPerComponent": 8, "ColorSpace": Name.DeviceRGB}
    made.update(Dictionary(Type=Name.XObject, Subtype=Name.Image, **{**known, **more}))
    return pdf.make_indirect(made)


def page_with(make: Make, content: bytes = LINE) -> bytes:
    pdf = new_pdf(content)
    pdf.pages[0].obj["/Resources"]["/XObject"] = Dictionary(I=make(pdf))
    return saved(pdf)


def jpeg(mode: str = "RGB", **more: Any) -> bytes:
    written = io.BytesIO()
    photograph(mode).save(written, "JPEG", **more)
    return written.getvalue()


def segment(marker: int, content: bytes) -> bytes:
    return bytes((0xFF, marker)) + (len(content) + 2).to_bytes(2, "big") + content


def told_jpeg(content: bytes, where: str = "head", marker: int = 0xFE, **more: Any) -> Make:
    data, told = jpeg(**more), segment(marker, content)
    at = {"head": 2, "scans": data.rfind(b"\xff\xda"), "end": len(data) - 2}[where]
    return lambda pdf: image(pdf, data[:at] + told + data[at:], Name.DCTDecode)


def jpeg_with_thumbnail(pdf: pikepdf.Pdf) -> Any:
    thumbnail = b"JFIF\0\1\1\0\0\1\0\1\x0a\x0a" + NOTE.ljust(300, b" ")
    return image(pdf, jpeg()[:2] + segment(0xE0, thumbnail) + jpeg()[20:], Name.DCTDecode)


def two_pictures(pdf: pikepdf.Pdf) -> Any:
    return image(pdf, jpeg() + jpeg(comment=NOTE), Name.DCTDecode)


def jpeg_in_flate(pdf: pikepdf.Pdf) -> Any:
    filters = Array([Name.FlateDecode, Name.DCTDecode])
    return image(pdf, zlib.compress(jpeg(comment=NOTE) + NOTE) + NOTE, filters)


def jpeg_words_in_its_scan(pdf: pikepdf.Pdf) -> Any:
    return image(pdf, jpeg()[:-2] + NOTE + b"\xff\xd9", Name.DCTDecode)


def jpeg_2000(pdf: pikepdf.Pdf, change: Callable[[bytes], bytes], *, bare: bool = False) -> Any:
    written = io.BytesIO()
    photograph().save(written, "JPEG2000", no_jp2=bare)
    made = image(pdf, change(written.getvalue()), Name.JPXDecode)
    del made["/ColorSpace"]
    return made


def comment_in_code(data: bytes) -> bytes:
    at = data.find(b"\xff\x52")
    made = data[:at] + segment(0x64, b"\0\1" + NOTE) + data[at:]
    box = made.find(b"jp2c") - 4
    return made if box < 0 else made[:box] + b"\0\0\0\0" + made[box + 4 :]


def raw(mode: str = "RGB") -> bytes:
    return photograph(mode).tobytes()


def predicted(pdf: pikepdf.Pdf) -> Any:
    rows = b"".join(b"\0" + raw()[at : at + 3 * SIDE] for at in range(0, len(raw()), 3 * SIDE))
    parameters = Dictionary(Predictor=15, Colors=3, BitsPerComponent=8, Columns=SIDE)
    return image(pdf, zlib.compress(rows + (b"\0" + NOTE).ljust(1 + 3 * SIDE)), Name.FlateDecode, parameters)


def words_as_row_filters(pdf: pikepdf.Pdf) -> Any:
    tags = NOTE[:SIDE]
    rows = b"".join(tags[at : at + 1] + bytes(3 * SIDE) for at in range(SIDE))
    parameters = Dictionary(Predictor=15, Colors=3, BitsPerComponent=8, Columns=SIDE)
    return image(pdf, zlib.compress(rows), Name.FlateDecode, parameters)


def fax(pdf: pikepdf.Pdf) -> Any:
    written = io.BytesIO()
    photograph("1").save(written, "TIFF", compression="group4")
    with Image.open(written) as made:
        start, size = made.tag_v2[273][0], made.tag_v2[279][0]  # type: ignore[attr-defined]
    data = written.getvalue()[start : start + size] + NOTE
    parameters = Dictionary(K=-1, Columns=SIDE, Rows=SIDE, BlackIs1=True)
    return image(pdf, data, Name.CCITTFaxDecode, parameters, ColorSpace=Name.DeviceGray, BitsPerComponent=1)


def words_in_spare_bits(pdf: pikepdf.Pdf) -> Any:
    return image(pdf, b"".join(bytes((0x80, each & 0x7F)) for each in NOTE), None, Width=9, Height=len(NOTE),
                 BitsPerComponent=1, ColorSpace=Name.DeviceGray)  # fmt: skip


def palette(pdf: pikepdf.Pdf) -> Any:
    colours = bytes(range(30)) + NOTE
    samples = bytes(each % 10 for each in range(SIDE * SIDE))
    return image(pdf, samples + NOTE, None, ColorSpace=Array([Name.Indexed, Name.DeviceRGB, 31, String(colours)]))


def profiled(pdf: pikepdf.Pdf) -> Any:
    from PIL import ImageCms

    data = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    data[48:56] = NOTE[:8]
    profile = pdf.make_indirect(pikepdf.Stream(pdf, bytes(data) + NOTE, N=3, Note=String(NOTE.decode())))
    return image(pdf, raw(), None, ColorSpace=Array([Name.ICCBased, profile]))


def keyed(pdf: pikepdf.Pdf) -> Any:
    made = image(pdf, raw())
    made.update(Dictionary(Name=Name("/" + NOTE.decode()), Intent=Name("/" + NOTE.decode()), ID=String(NOTE.decode())))
    made["/GTS_Env"] = Dictionary(Note=String(NOTE.decode()))
    made["/Measure"] = Dictionary(X=Array([Dictionary(U=String(NOTE.decode()))]))
    return made


def masked(pdf: pikepdf.Pdf) -> Any:
    mask = image(pdf, b"\xff" * SIDE * SIDE + NOTE, None, ColorSpace=Name.DeviceGray, Note=String(NOTE.decode()))
    return image(pdf, raw() + NOTE, None, SMask=mask)


def packed_by(name: str) -> Make:
    data = (
        zlib.compress(raw()) + NOTE
        if name == "Flate"
        else b"".join(
            bytes((119,)) + (raw() + NOTE)[at : at + 120].ljust(120) for at in range(0, len(raw() + NOTE), 120)
        )
        + b"\x80"
        + NOTE
    )
    if name == "Hex":
        data = (raw() + NOTE).hex().encode() + b">" + NOTE
    filters = {"Flate": Name.FlateDecode, "RunLength": Name.RunLengthDecode, "Hex": Name.ASCIIHexDecode}
    return lambda pdf: image(pdf, data, filters[name])


CARRIERS: dict[str, Make] = {
    "a JPEG's comment": told_jpeg(NOTE),
    "a JPEG's EXIF": told_jpeg(b"Exif\0\0" + NOTE, marker=0xE1),
    "a JPEG's profile": told_jpeg(b"ICC_PROFILE\0\1\1" + NOTE, marker=0xE2),
    "a JPEG's private segment": told_jpeg(NOTE, marker=0xEF),
    "a JPEG's segment named Adobe": told_jpeg(b"Adobe" + NOTE, marker=0xEE),
    "a JPEG's Photoshop segment": told_jpeg(b"Adobe_Photoshop2.5:" + NOTE, marker=0xED),
    "a comment between scans": told_jpeg(NOTE, "scans", progressive=True),
    "a comment behind the scan": told_jpeg(NOTE, "end"),
    "a thumbnail": jpeg_with_thumbnail,
    "a second picture": two_pictures,
    "a JPEG in Flate": jpeg_in_flate,
    "a JPEG's trailer": lambda pdf: image(pdf, jpeg() + NOTE, Name.DCTDecode),
    "a JPEG's scan": jpeg_words_in_its_scan,
    "JPEG 2000: a comment": lambda pdf: jpeg_2000(pdf, comment_in_code),
    "JPEG 2000: a comment, without boxes": lambda pdf: jpeg_2000(pdf, comment_in_code, bare=True),
    "JPEG 2000: a box": lambda pdf: jpeg_2000(pdf, lambda data: data + b"\0\0\0\x58uuid" + NOTE.ljust(80)),
    "JPEG 2000: a trailer": lambda pdf: jpeg_2000(pdf, lambda data: data + NOTE, bare=True),
    "samples beyond the picture": lambda pdf: image(pdf, raw() + NOTE),
    "bytes behind Flate": packed_by("Flate"),
    "bytes behind a run length": packed_by("RunLength"),
    "bytes behind hexadecimal": packed_by("Hex"),
    "a row beyond the picture": predicted,
    "the filters of rows": words_as_row_filters,
    "a fax's trailer": fax,
    "the spare bits of rows": words_in_spare_bits,
    "a palette": palette,
    "a profile": profiled,
    "keys of its own": keyed,
    "a mask": masked,
}


@pytest.mark.parametrize("carrier", CARRIERS)
def test_nothing_is_left_beside_the_pixels_of(carrier: str) -> None:
    data = page_with(CARRIERS[carrier])
    made = redacted(data, NAME, allow_unread=True)
    assert not made.pages or {page.method for page in made.pages} == {"rewritten"}
    with pikepdf.open(io.BytesIO(made.data)) as pdf:
        streams = [each for each in pdf.objects if isinstance(each, pikepdf.Stream)]
        held = b"".join(each.read_raw_bytes() + unpacked(each) + repr(each).encode() for each in streams)
    assert not [part for part in (b"Maria", b"52.5200", NOTE[:8]) if part in made.data + held]
    assert difference(data, made.data) < 16


def difference(first: bytes, second: bytes) -> int:
    """The most by which two pages differ below their line of text, of 255."""
    return int(np.abs(shown(first)[300:].astype(int) - shown(second)[300:]).max())


def unpacked(stream: Any) -> bytes:
    try:
        return bytes(stream.read_bytes())
    except pikepdf.PdfError:
        return b""


SAME: dict[str, tuple[Make, str]] = {
    "JPEG": (lambda pdf: image(pdf, jpeg(), Name.DCTDecode), "RGB"),
    "progressive JPEG": (lambda pdf: image(pdf, jpeg(progressive=True), Name.DCTDecode), "RGB"),
    "JPEG of four inks": (lambda pdf: image(pdf, jpeg("CMYK"), Name.DCTDecode, ColorSpace=Name.DeviceCMYK), "CMYK"),
    "gray JPEG with restarts": (lambda pdf: image(pdf, jpeg("L", restart_marker_rows=1), Name.DCTDecode,
                                                  ColorSpace=Name.DeviceGray), "L"),
    "JPEG 2000": (lambda pdf: jpeg_2000(pdf, lambda data: data), "RGB"),
    "samples": (lambda pdf: image(pdf, raw()), "RGB"),
    "samples with a predictor": (predicted, "RGB"),
}  # fmt: skip


@pytest.mark.parametrize("kind", SAME)
def test_the_pixels_of_a_seen_photograph_stay_as_they_are(kind: str) -> None:
    make, mode = SAME[kind]
    data = page_with(make)
    before, after = (
        decoded(data, mode).astype(int),
        decoded(redacted(data, NAME, allow_unread=True).data, mode).astype(int),
    )
    assert before.shape == after.shape
    assert np.abs(before - after).mean() < (2 if "JPEG" in kind else 0.001)


JUNK = bytes(range(0x80, 0xC0))
JUNKY: dict[str, Make] = {
    "a JPEG's scan": lambda pdf: image(pdf, jpeg()[:-2] + JUNK + b"\xff\xd9", Name.DCTDecode),
    "a tile of JPEG 2000": lambda pdf: jpeg_2000(pdf, lambda data: data[:-2] + JUNK + b"\xff\xd9", bare=True),
}


@pytest.mark.parametrize("carrier", JUNKY)
def test_no_bytes_are_left_behind_the_packets_of(carrier: str) -> None:
    data = page_with(JUNKY[carrier])
    made = redacted(data, NAME, allow_unread=True).data
    assert JUNK in data
    assert JUNK not in made
    assert difference(data, made) < 64


def emblem() -> Image.Image:
    drawn = Image.new("RGBA", (200, 200))
    ImageDraw.Draw(drawn).ellipse((20, 20, 180, 180), fill=(20, 90, 200, 255))
    return drawn


def emblem_in_jpeg_2000(pdf: pikepdf.Pdf) -> Any:
    written = io.BytesIO()
    emblem().save(written, "JPEG2000")
    made = image(pdf, written.getvalue(), Name.JPXDecode, Width=200, Height=200, SMaskInData=1)
    del made["/ColorSpace"]
    return made


def mask_finer_than_its_image(pdf: pikepdf.Pdf) -> Any:
    opacity = emblem().getchannel("A").tobytes()
    mask = image(pdf, opacity, ColorSpace=Name.DeviceGray, Width=200, Height=200)
    ramp = np.repeat(np.linspace(0, 255, SIDE).astype(np.uint8), 3 * SIDE)
    return image(pdf, ramp.tobytes(), SMask=mask)


@pytest.mark.parametrize("make", [emblem_in_jpeg_2000, mask_finer_than_its_image])
def test_a_transparent_image_looks_the_same(make: Make) -> None:
    data = page_with(make)
    made = redacted(data, NAME, allow_unread=True).data
    differs = np.abs(shown(data)[300:].astype(int) - shown(made)[300:]).max(axis=2) > 32
    assert differs.mean() < 0.003


def test_a_picture_that_was_predicted_does_not_grow() -> None:
    rows = np.add.outer(np.arange(300), np.arange(300)).astype(np.uint8)
    predictor = Dictionary(Predictor=15, Colors=1, Columns=300)
    filtered = b"".join(b"\2" + row.tobytes() for row in np.diff(rows, axis=0, prepend=np.zeros((1, 300), np.uint8)))
    size = {"Width": 300, "Height": 300, "ColorSpace": Name.DeviceGray}
    data = page_with(lambda pdf: image(pdf, zlib.compress(filtered), Name.FlateDecode, predictor, **size))
    made = redacted(data, NAME, allow_unread=True).data
    assert len(made) < 1.5 * len(data)
    assert difference(data, made) == 0


def decoded(data: bytes, mode: str) -> Any:
    """The samples of a page's image, of a photograph in this mode."""
    with pikepdf.open(io.BytesIO(data)) as pdf:
        stream = pdf.pages[0].resources["/XObject"]["/I"]
        if str(stream.get("/Filter")) in ("/DCTDecode", "/JPXDecode"):
            with Image.open(io.BytesIO(stream.read_raw_bytes())) as picture:
                return np.array(picture.convert(mode))
        return np.frombuffer(stream.read_bytes(), np.uint8)[: SIDE * SIDE * len(Image.new(mode, (1, 1)).getbands())]


def writing(mode: str = "L", ink: Any = 0, paper: Any = 255) -> Image.Image:
    drawn = Image.new(mode, (200, 40), paper)
    ImageDraw.Draw(drawn).text((5, 10), "For Maria Muster", fill=ink, font_size=20)
    return drawn


WIDE = {"Width": 200, "Height": 40}


def one_colour(pdf: pikepdf.Pdf) -> Any:
    return image(pdf, writing().tobytes(), ColorSpace=Name.DeviceGray, Decode=Array([1, 1]), **WIDE)


def equal_colours(pdf: pikepdf.Pdf) -> Any:
    table = Array([Name.Indexed, Name.DeviceGray, 255, String(b"\xf0" * 256)])
    return image(pdf, writing().tobytes(), ColorSpace=table, **WIDE)


def no_ink(pdf: pikepdf.Pdf) -> Any:
    function = Dictionary(FunctionType=2, Domain=Array([0, 1]), C0=Array([1]), C1=Array([1]), N=1)
    space = Array([Name.Separation, Name.Varnish, Name.DeviceGray, function])
    return image(pdf, writing().tobytes(), ColorSpace=space, **WIDE)


def low_bytes(pdf: pikepdf.Pdf) -> Any:
    samples = b"".join(b"\xff" + bytes((each,)) for each in writing().tobytes())
    return image(pdf, samples, ColorSpace=Name.DeviceGray, BitsPerComponent=16, **WIDE)


def transparent(pdf: pikepdf.Pdf) -> Any:
    mask = image(pdf, bytes(8000), ColorSpace=Name.DeviceGray, **WIDE)
    return image(pdf, writing().tobytes(), ColorSpace=Name.DeviceGray, SMask=mask, **WIDE)


def cut_out(pdf: pikepdf.Pdf) -> Any:
    stencil = image(pdf, b"\xff" * 1000, BitsPerComponent=1, ImageMask=True, **WIDE)
    del stencil["/ColorSpace"]
    return image(pdf, writing().tobytes(), ColorSpace=Name.DeviceGray, Mask=stencil, **WIDE)


def opacity_alone(pdf: pikepdf.Pdf) -> Any:
    mask = image(pdf, writing("L", 7, 0).tobytes(), ColorSpace=Name.DeviceGray, **WIDE)
    return image(pdf, bytes(8000), ColorSpace=Name.DeviceGray, SMask=mask, **WIDE)


UNSEEN: dict[str, Make] = {
    "a map to one colour": one_colour,
    "a palette of one colour": equal_colours,
    "an ink that shows nothing": no_ink,
    "the lower bytes": low_bytes,
    "a soft mask": transparent,
    "a stencil": cut_out,
    "faint opacity": opacity_alone,
}


@pytest.mark.parametrize("how", UNSEEN)
def test_writing_in_an_image_goes_that_does_not_show_through(how: str) -> None:
    data = page_with(UNSEEN[how])
    made = redacted(data, NAME, allow_unread=True).data
    assert difference(data, made) < 8
    with pikepdf.open(io.BytesIO(made)) as pdf:
        images = [
            each for each in pdf.objects if isinstance(each, pikepdf.Stream) and each.get("/Subtype") == Name.Image
        ]
        for each in images:
            for mask in ("/SMask", "/Mask"):
                if mask in each:
                    del each[mask]
            assert not np.ptp(np.array(pikepdf.PdfImage(each).as_pil_image()).astype(int)).any()


def test_samples_are_cut_to_their_rows_and_spare_bits_are_empty() -> None:
    assert cut_samples(b"\xff" * 9, 9, 3, 1) == b"\xff\x80" * 3
    assert cut_samples(b"abcdef", 2, 2, 8) == b"abcd"
    assert cut_samples(b"abc", 2, 2, 8) == b"abc"


def test_a_jpeg_keeps_its_tables_where_there_is_no_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "gone"
    here.mkdir()
    monkeypatch.chdir(here)
    here.rmdir()
    data = jpeg(quality=40)
    with JpegImageFile(io.BytesIO(data)) as before:
        made = same_jpeg(data, before.size, len(before.getbands()))
        with JpegImageFile(io.BytesIO(made)) as after:
            assert after.quantization == before.quantization
