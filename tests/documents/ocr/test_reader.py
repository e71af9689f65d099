"""Pictures and pages of PDFs as documents: text in its order, boxes, confidence, what the text layer says already."""

from __future__ import annotations

import copy
import io
import struct
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont, TiffImagePlugin, TiffTags
from reportlab.lib.utils import ImageReader

from service.core.errors import DocumentTooLarge, GleanerError, UnreadableDocument
from service.documents.document import Document, PictureRequest
from service.documents.limits import DocumentLimits
from service.documents.ocr.joining import with_recognized
from service.documents.ocr.networks import TextNetworks
from service.documents.ocr.pictures import draw_picture, gray_page, picture_pages
from service.documents.ocr.reader import recognize_pages, recognize_picture
from service.documents.reader import read_document
from tests.support.document_files import drawn
from tests.support.drawn_sheets import Sheet, noise, sheet
from tests.support.drawn_sheets import networks as builtin_networks

LIMITS = DocumentLimits()


@cache
def networks() -> TextNetworks:
    """The networks; pixels that they have seen, as in another format or under another text layer, they see no more."""
    loaded = builtin_networks()
    return replace(loaded, detect=_remembering(loaded.detect), recognize=_remembering(loaded.recognize))


def _remembering(network: Callable[[Any], Any]) -> Callable[[Any], Any]:
    answers: dict[tuple[Any, bytes], Any] = {}

    def answer(pixels: Any) -> Any:
        key = pixels.shape, sha256(pixels).digest()
        if key not in answers:
            answers[key] = network(pixels)
        return copy.deepcopy(answers[key])

    return answer


TEXT = """Nordlicht Optik GmbH
Invoice No: RE-2026-118
Date: 12 March 2026
Reading glasses\t2\t420.25\t840.50
Lens cloth\t8\t50.00\t400.00
Total\t1240.50
IBAN: DE89 3704 0044 0532 0130 00"""


def recognized(data: bytes, *pages: int, is_pdf: bool = False) -> Document:
    return recognize_pages(data, pages or (1,), networks(), limits=LIMITS, is_pdf=is_pdf)


def scan(*sheets: Sheet | None, typed: str = "", hidden: str = "") -> bytes:
    """A PDF with a picture on each page, or none, a typed line above it, and hidden lines under it."""

    def draw(canvas: Any) -> None:
        for each in sheets:
            if each is not None:
                canvas.drawImage(ImageReader(each.picture), 0, 142, 595, 416)
            if typed:
                canvas.drawString(60, 700, typed)
            layer = canvas.beginText(48, 520)
            layer.setTextRenderMode(3)
            layer.textLines(hidden)
            canvas.drawText(layer)
            canvas.showPage()

    return drawn(draw)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF"])
def test_a_picture_of_any_format_is_read(kind: str) -> None:
    document = recognized(sheet().file(kind))
    assert document.text == TEXT
    assert document.pages is not None
    assert (document.pages[0].width, document.pages[0].height) == (360, 252)
    at = document.text.index("1240.50")
    ((left, top, right, bottom),) = document.boxes(at, at + 7)
    assert np.allclose((left, top, right, bottom), np.array(sheet().boxes["1240.50"]) * 0.36, atol=2)
    assert (document.confidence(at, at + 7) or 0) > 0.99


def test_dots_an_inch_are_the_files_where_they_can_be() -> None:
    assert picture_pages(sheet().file("PNG", dpi=(120, 120)), limits=LIMITS).pages[0].width == pytest.approx(600, abs=1)  # type: ignore[index]
    assert picture_pages(sheet().file("PNG", dpi=(1, 1)), limits=LIMITS).pages[0].width == 360  # type: ignore[index]


@pytest.mark.parametrize(("across", "down"), [(-200, -200), (-200, 200), (200, -200), (0, 0), (-300, -150)])
def test_dots_that_no_picture_has_are_not_believed(across: int, down: int) -> None:
    file = io.BytesIO()
    tags = TiffImagePlugin.ImageFileDirectory_v2()
    for tag, dots in ((282, across), (283, down)):
        tags.tagtype[tag] = TiffTags.SIGNED_RATIONAL
        tags[tag] = dots
    tags[296] = 2
    sheet().picture.save(file, "TIFF", tiffinfo=tags)
    (page,) = picture_pages(file.getvalue(), limits=LIMITS).pages or ()
    assert (page.width, page.height) == (360, 252)


def with_density(data: bytes, kind: str, across: int, down: int) -> bytes:
    """A PNG or a JPEG that says how many of its dots across are as long as how many down, without a unit."""
    said = struct.pack(">HH", across, down)
    if kind == "JPEG":
        return data[:13] + b"\0" + said + data[18:]
    chunk = b"pHYs" + struct.pack(">IIB", across, down, 0)
    return data[:33] + struct.pack(">I", 9) + chunk + struct.pack(">I", zlib.crc32(chunk)) + data[33:]


@pytest.mark.parametrize(
    ("kind", "size", "options", "points"),
    [
        ("TIFF", (2000, 673), {"dpi": (204, 98), "compression": "group3"}, (706, 494)),
        ("TIFF", (2000, 700), {"dpi": (200, 100), "compression": "group4"}, (720, 504)),
        ("PNG", (1000, 350), {"dpi": (300, 150)}, (240, 168)),
        ("JPEG", (500, 700), {"dpi": (150, 300)}, (240, 168)),
        ("BMP", (1000, 673), {"dpi": (204, 196)}, (353, 247)),
    ],
)
def test_dots_that_are_not_square_are_made_so(
    kind: str, size: tuple[int, int], options: dict[str, Any], points: tuple[int, int]
) -> None:
    picture = sheet().picture.resize(size, Image.Resampling.BOX)
    if kind == "TIFF":
        picture = picture.convert("1", dither=Image.Dither.NONE)
    data = Sheet(picture, {}).file(kind, **options)
    document = recognized(data)
    assert document.text == TEXT
    assert document.pages is not None
    page = document.pages[0]
    assert (page.width, page.height) == pytest.approx(points, abs=1)
    ((left, top, right, bottom),) = document.boxes(TEXT.index("1240.50"), TEXT.index("1240.50") + 7)
    at = np.array(sheet().boxes["1240.50"])
    assert np.allclose((left, top, right, bottom), at * np.tile((page.width / 1000, page.height / 700), 2), atol=2)


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
@pytest.mark.parametrize(
    ("across", "down", "shape"),
    [(2, 1, (140, 100)), (204, 98, (146, 100)), (1, 1, (70, 100)), (1, 100, (70, 100)), (0, 1, (70, 100))],
)
def test_a_density_without_a_unit_is_believed_where_it_can_be(
    kind: str, across: int, down: int, shape: tuple[int, int]
) -> None:
    data = with_density(Sheet(Image.new("L", (100, 70)), {}).file(kind), kind, across, down)
    assert gray_page(data, 1).shape == pytest.approx(shape, abs=1)


def test_a_photograph_is_turned_as_its_camera_says() -> None:
    turned = Sheet(sheet().picture.rotate(90, expand=True), {})
    exif = Image.Exif()
    exif[0x0112] = 6
    data = turned.file("JPEG", exif=exif)
    assert gray_page(data, 1).shape == (700, 1000)
    document = recognized(data)
    assert (document.text, document.recognized[0].turned) == (TEXT, 0)
    assert document.pages is not None
    assert (document.pages[0].width, document.pages[0].height) == (360, 252)


def test_transparent_and_deep_pictures_are_read() -> None:
    layer = Image.new("RGBA", (1000, 700), (0, 0, 0, 0))
    layer.paste((0, 0, 0, 255), mask=Image.eval(sheet().picture, lambda level: 255 - level))
    assert recognized(Sheet(layer, {}).file("PNG")).text == TEXT
    deep = Image.fromarray(sheet().gray.astype(np.uint16) * 200)
    assert recognized(Sheet(deep, {}).file("PNG")).text == TEXT


def test_a_tiff_has_pages() -> None:
    second = sheet((((80, 60), "The second page, which stands on its head"),)).picture.rotate(180)
    data = sheet().file("TIFF", save_all=True, append_images=[second])
    first_look = read_document(data, limits=LIMITS, ocr_pages=())
    assert (first_look.unread_pages, first_look.text) == ((1, 2), "\n\n")
    document = with_recognized(first_look, {number: recognized(data, number) for number in (1, 2)})
    assert document.text == f"{TEXT}\n\nThe second page, which stands on its head"
    assert [each.turned for each in document.recognized] == [0, 180]
    assert document.unread_pages == ()


def with_orientation(kind: str) -> bytes:
    """A picture whose EXIF says how it was held."""
    exif, file = Image.Exif(), io.BytesIO()
    exif[0x0112] = 6
    sheet().picture.save(file, kind, exif=exif)
    return file.getvalue()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (sheet().file()[:300], "damaged"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), r"\(cannot identify image file\)"),
        (sheet().file("TIFF")[:200], "damaged"),
        (with_orientation("JPEG").replace(b"\x01\x12\x00\x03", b"\x01\x12\x00\x02"), "not an integer"),
        (with_orientation("WEBP").replace(b"\x01\x12\x00\x03", b"\x01\x12\x00\x0b"), "not an integer"),
    ],
)
def test_a_damaged_picture_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(UnreadableDocument, match=why):
        recognized(data)


@pytest.mark.parametrize("size", [(12_000, 12_000), (40_000, 10), (15_000, 14_000)])
def test_a_huge_picture_is_refused_by_its_header(size: tuple[int, int]) -> None:
    file = io.BytesIO()
    Image.new("1", size).save(file, "PNG", compress_level=1)
    with pytest.raises(DocumentTooLarge, match="pixels"):
        read_document(file.getvalue(), limits=LIMITS, ocr_pages=())


def test_pages_that_are_not_there_are_refused() -> None:
    for data, is_pdf in ((sheet().file(), False), (scan(sheet()), True)):
        with pytest.raises(UnreadableDocument, match="no page 2"):
            recognized(data, 2, is_pdf=is_pdf)


def test_a_scan_is_read_in_the_place_of_its_page() -> None:
    data = scan(None, sheet(), None, typed="A typed line")
    first_look = read_document(data, limits=LIMITS, ocr_pages=())
    assert first_look.incomplete_pages == (2,)
    document = with_recognized(first_look, {2: recognized(data, 2, is_pdf=True)})
    assert document.text == f"A typed line\n\nA typed line\n{TEXT}\n\nA typed line"
    assert document.incomplete_pages == ()
    assert document.pages is not None
    assert [document.text[page.start : page.end].count("typed") for page in document.pages] == [1, 1, 1]
    typed = document.text.index("typed")
    assert document.confidence(typed, typed + 5) is None
    assert document.page_at(document.text.index("RE-2026")) == 2
    assert document.layout is not None
    lines = [document.text[start : document.text.find("\n", start)] for start in document.layout.line_starts.tolist()]
    assert "Invoice No: RE-2026-118" in lines


def test_words_of_the_text_layer_are_not_read_twice() -> None:
    data = scan(sheet(), typed="A typed line over the scan")
    document = recognized(data, is_pdf=True)
    assert document.text.count("typed line") == 1
    assert TEXT in document.text


def test_struck_out_text_beside_a_scan_is_not_read_by_its_picture() -> None:
    def draw(canvas: Any) -> None:
        canvas.drawImage(ImageReader(sheet().picture), 0, 142, 595, 416)
        canvas.setFont("Helvetica", 16)
        canvas.drawString(60, 700, "Total amount 8888.50 EUR")
        canvas.line(58, 705, 246, 705)
        canvas.drawString(60, 650, "New total 7777.50 EUR")

    data = drawn(draw)
    first_look = read_document(data, limits=LIMITS, ocr_pages=())
    text = with_recognized(first_look, {1: recognized(data, is_pdf=True)}).text
    assert (text.count("8888"), text.count("7777.50"), text.count("RE-2026-118")) == (0, 1, 1)


GARBAGE = (
    "l nv0 ice N0 ### rn|l1 ~~ c0ns",
    "II|/ \\\\ _l1 i. i. 'l l j ; |f t1 1l",
    "Nqrd1iChl 0pt!k 6mbH |n\\/0!ce ^^ {8",
) * 3
HIDDEN = TEXT.replace("\t", " ")


@pytest.mark.parametrize("hidden", ["\n".join(GARBAGE), "\n".join(GARBAGE[:2]), "\n".join(GARBAGE[2:4])])
@pytest.mark.parametrize("typed", ["", "A typed line"])
def test_hidden_text_that_says_nothing_gives_way(hidden: str, typed: str) -> None:
    data = scan(sheet(), hidden=hidden, typed=typed)
    first_look = read_document(data, limits=LIMITS, ocr_pages=())
    assert first_look.unread_pages == (1,)
    document = with_recognized(first_look, {1: recognized(data, is_pdf=True)})
    assert document.text == (f"{typed}\n{TEXT}" if typed else TEXT)
    assert document.incomplete_pages == ()


def test_hidden_text_that_the_picture_confirms_stays() -> None:
    document = recognized(scan(sheet(), hidden=HIDDEN), is_pdf=True)
    assert document.text.count("RE-2026-118") == 1
    assert document.confidence(0, 5) is None


def test_a_text_layer_gives_way_by_force() -> None:
    data = scan(None, typed="A typed line of some length")
    document = recognize_pages(data, (1,), networks(), limits=LIMITS, is_pdf=True, is_forced=True)
    assert (document.text, document.unread_pages) == ("A typed line of some length", ())
    assert (document.confidence(2, 7) or 0) > 0.95
    hidden = scan(sheet(), typed="A typed line", hidden="Something else\nthat nobody sees")
    assert recognize_pages(hidden, (1,), networks(), limits=LIMITS, is_pdf=True, is_forced=True).text == (
        f"A typed line\n{TEXT}"
    )


OTHER_SCRIPTS = {
    "Russian": "Счёт на оплату № 118 от 12 марта 2026 г.|Поставщик: ООО Ромашка, Москва|Всего к оплате: 12 400,00 руб.",
    "Ukrainian": "Рахунок на оплату послуг за березень|Постачальник: ТОВ Їжак, Київ|Усього до сплати: 1 200,00 грн",
    "Arabic": "فاتورة رقم ١١٨ بتاريخ ١٢ مارس|المورد شركة الشمال للبصريات|المجموع الكلي ١٢٤٠ ريال",
    "Hebrew": "חשבונית מס מספר 118|ספק: חברת הצפון בעם|סך הכל לתשלום 1240",
    "Georgian": "ანგარიში ნომერი ასი|მიმწოდებელი საქართველო|სულ გადასახდელი თანხა",
}
LATIN = "Invoice number 118 of March 12, 2026|Supplier: Nordlicht Optik GmbH, Berlin|Total EUR 1,240.50"


def printed(lines: str) -> bytes:
    """A picture of lines in a font that has many scripts."""
    font = ImageFont.truetype(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf", 28)
    picture = Image.new("L", (800, 70 + 60 * lines.count("|")), 255)
    for number, line in enumerate(lines.split("|")):
        ImageDraw.Draw(picture).text((40, 20 + 60 * number), line, font=font, fill=20)
    return Sheet(picture, {}).file()


@pytest.mark.parametrize("script", OTHER_SCRIPTS)
def test_a_script_that_the_networks_lack_is_unread_or_named(script: str) -> None:
    """The letters of some are taken for blank, and the digits between them read with certainty."""
    other = OTHER_SCRIPTS[script]
    alone = recognized(printed(other))
    assert (alone.text, alone.unread_pages, alone.recognized) == ("", (1,), ())
    below = recognized(printed(f"{LATIN}|{other}"))
    assert below.unread_pages == (1,) or below.partly_read
    if below.text:
        assert below.text.startswith(LATIN.replace("|", "\n"))


def test_a_page_that_is_not_recognized_stays_as_it_was() -> None:
    blank = Sheet(noise((1000, 700), 60), {})
    data = scan(blank, typed="A typed line")
    document = recognized(data, is_pdf=True)
    assert (document.text, document.unread_pages, document.recognized) == ("A typed line", (1,), ())
    first_look = read_document(data, limits=LIMITS, ocr_pages=())
    assert with_recognized(first_look, {1: document}).text == "A typed line"


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_a_picture_inside_a_file_is_a_page_of_its_number(kind: str) -> None:
    document = recognize_picture(sheet().file(kind), 5, networks(), limits=LIMITS)
    assert (document.text, [page.number for page in document.pages or ()]) == (TEXT, [5])
    with pytest.raises(UnreadableDocument, match="pixels"):
        recognize_picture(
            Sheet(Image.new("1", (15_000, 14_000)), {}).file(compress_level=1), 5, networks(), limits=LIMITS
        )


@pytest.mark.parametrize("script", ["Ελληνικά γράμματα|Τιμολόγιο αριθμός πέντε", "Счёт на оплату|Итого к оплате"])
def test_a_picture_in_a_script_that_the_networks_lack_is_named(script: str) -> None:
    document = recognize_picture(printed(script), 5, networks(), limits=LIMITS)
    assert document.unread_pages == (5,)
    assert document.partly_read


def test_a_picture_is_drawn_for_those_who_look_at_it() -> None:
    drawn_page = draw_picture(sheet().file("JPEG"), PictureRequest(1, 500), limits=LIMITS)
    with Image.open(io.BytesIO(drawn_page.content)) as shown:
        assert shown.size == (500, 350)
    assert (drawn_page.width_points, drawn_page.pages) == (360, 1)
    layer = Image.new("RGBA", (400, 300), (0, 0, 0, 0))
    for picture in (layer, layer.convert("LA"), layer.quantize(4), Image.fromarray(np.eye(300, dtype=np.uint16) * 900)):
        drawn_page = draw_picture(Sheet(picture, {}).file("PNG"), PictureRequest(1, 200), limits=LIMITS)
        with Image.open(io.BytesIO(drawn_page.content)) as shown:
            assert round(float(np.asarray(shown.convert("L")).mean()) / 255) == (picture.mode[0] != "I"), picture.mode
    with pytest.raises(GleanerError, match="no page 2"):
        draw_picture(sheet().file(), PictureRequest(2, 500), limits=LIMITS)


@pytest.mark.parametrize("mode", ["RGB", "L", "P"])
def test_a_picture_becomes_the_square_that_pillow_makes_of_it(mode: str) -> None:
    picture = sheet().picture.convert(mode)
    square = draw_picture(Sheet(picture, {}).file("PNG"), PictureRequest(1, 64, resample=2), limits=LIMITS)
    wanted = picture.convert("RGB").resize((64, 64), Image.Resampling.BILINEAR)
    assert square.content == wanted.tobytes()
