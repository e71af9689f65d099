"""Which text of a DOCX file a person sees: colours on their ground, sizes, effects, boxes, struck-out text."""

from __future__ import annotations

import re

import pytest

from service.documents.document import Document, PartlyRead, UnreadReason
from service.documents.docx import read_docx
from service.documents.limits import DocumentLimits
from tests.support.document_files import WORD_NAMESPACE, package_of

NAMESPACES = (
    f'xmlns:w="{WORD_NAMESPACE}" xmlns:w14="urn:w14" xmlns:wps="urn:wps" xmlns:wp="urn:wp" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:v="urn:schemas-microsoft-com:vml"'
)


def style(kind: str, name: str, content: str = "", more: str = "") -> str:
    return f'<w:style w:type="{kind}" w:styleId="{name}"{more}>{content}</w:style>'


STYLES = (
    f"<w:styles {NAMESPACES}><w:docDefaults><w:rPrDefault>"
    '<w:rPr><w:sz w:val="22"/></w:rPr></w:rPrDefault></w:docDefaults>'
    + "".join(
        [
            style("paragraph", "Normal", "", ' w:default="1"'),
            style("paragraph", "White", '<w:rPr><w:color w:val="FFFFFF"/></w:rPr>'),
            style("paragraph", "Based", '<w:basedOn w:val="White"/><w:pPr><w:jc w:val="left"/></w:pPr>'),
            style(
                "paragraph",
                "Bar",
                '<w:pPr><w:shd w:val="clear" w:fill="1F3864"/></w:pPr><w:rPr><w:color w:val="FFFFFF"/></w:rPr>',
            ),
            style("character", "Tiny", '<w:rPr><w:sz w:val="2"/></w:rPr>'),
            style("character", "Struck", "<w:rPr><w:strike/></w:rPr>"),
            style("paragraph", "StruckP", "<w:rPr><w:strike/></w:rPr>"),
            style("character", "Black", '<w:rPr><w:color w:val="000000"/></w:rPr>'),
            style("table", "Grid", "<w:tblPr><w:tblBorders/></w:tblPr>"),
            style(
                "table",
                "Accent",
                '<w:basedOn w:val="Grid"/><w:tblStylePr w:type="firstRow"><w:rPr>'
                '<w:color w:val="FFFFFF"/></w:rPr>'
                '<w:tcPr><w:shd w:val="clear" w:fill="4472C4"/></w:tcPr></w:tblStylePr>',
            ),
            style("table", "AccentChild", '<w:basedOn w:val="Accent"/>'),
            style(
                "table",
                "Bands",
                '<w:rPr><w:color w:val="FFFFFF"/></w:rPr><w:tblPr><w:shd w:val="clear" w:fill="000000"/></w:tblPr>'
                '<w:tblStylePr w:type="band2Horz"><w:tcPr><w:shd w:val="clear" w:fill="FFFFFF"/></w:tcPr>'
                "</w:tblStylePr>",
            ),
        ]
    )
    + "</w:styles>"
)


def run(text: str, properties: str = "") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>"


def paragraph(content: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{content}</w:p>"


def named(style_name: str) -> str:
    return f'<w:pStyle w:val="{style_name}"/>'


WHITE = '<w:color w:val="FFFFFF"/>'
BLACK = '<w14:srgbClr w14:val="000000"/>'
THEME_WHITE = '<w:color w:val="000000" w:themeColor="background1"/>'


def table(content: str, tbl: str = "", cell: str = "") -> str:
    properties = f'<w:tblPr>{tbl}</w:tblPr><w:tr><w:tc><w:tcPr><w:tcW w:w="1"/>{cell}</w:tcPr>'
    return f"<w:tbl>{properties}{paragraph(content)}</w:tc></w:tr></w:tbl>"


def box(content: str, fill_: str = "", style_: str = "") -> str:
    return paragraph(
        f"<w:r><w:drawing><wps:wsp><wps:spPr>{fill_}"
        f'<a:ln><a:solidFill><a:srgbClr val="000000"/></a:solidFill></a:ln></wps:spPr>{style_}'
        f"<wps:txbx><w:txbxContent>{paragraph(content)}</w:txbxContent></wps:txbx></wps:wsp></w:drawing></w:r>"
    )


def row(content: str, properties: str, more: str = "") -> str:
    return f"<w:tbl><w:tr><w:trPr>{properties}</w:trPr><w:tc>{more}{paragraph(content)}</w:tc></w:tr></w:tbl>"


def drawn(boxed: str, width_emu: int = 900_000, height_emu: int = 900_000, more: str = "") -> str:
    size = f'<wp:extent cx="{width_emu}" cy="{height_emu}"/><wp:docPr id="1"{more}/>'
    return boxed.replace("<w:drawing>", f"<w:drawing><wp:inline>{size}").replace(
        "</w:drawing>", "</wp:inline></w:drawing>"
    )


def vml(content: str, attributes: str = "") -> str:
    return paragraph(
        f"<w:r><w:pict><v:shape {attributes}><v:textbox>"
        f"<w:txbxContent>{paragraph(content)}</w:txbxContent></v:textbox></v:shape></w:pict></w:r>"
    )


def behind(width_emu: int, height_emu: int) -> str:
    extent = f'<wp:extent cx="{width_emu}" cy="{height_emu}"/>'
    return paragraph(f'<w:r><w:drawing><wp:anchor behindDoc="1">{extent}</wp:anchor></w:drawing></w:r>')


def vml_behind(attributes: str, content: str = "", size: str = "width:16cm;height:2cm") -> str:
    shape = f'<v:rect style="position:absolute;z-index:-251658240;{size}" {attributes}>{content}</v:rect>'
    return paragraph(f"<w:r><w:pict>{shape}</w:pict></w:r>")


def solid(colour: str) -> str:
    return f'<a:solidFill><a:srgbClr val="{colour}"/></a:solidFill>'


def fill(content: str) -> str:
    return f"<w14:textFill>{content}</w14:textFill>"


def filled(colour: str, more: str = "") -> str:
    return f'<w14:solidFill><w14:srgbClr w14:val="{colour}">{more}</w14:srgbClr></w14:solidFill>'


def shd(colour: str) -> str:
    return f'<w:shd w:val="clear" w:color="auto" w:fill="{colour}"/>'


HIDDEN = {
    "white": paragraph(run("no", WHITE)),
    "near": paragraph(run("no", '<w:color w:val="FEFEFE"/>')),
    "pale": paragraph(run("no", '<w:color w:val="F2F2F2"/>')),
    "theme": paragraph(run("no", THEME_WHITE)),
    "theme_shade": paragraph(run("no", '<w:color w:val="000000" w:themeColor="background1" w:themeShade="F2"/>')),
    "one_point": paragraph(run("no", '<w:sz w:val="2"/>')),
    "two_points": paragraph(run("no", '<w:sz w:val="4"/>')),
    "vanish": paragraph(run("no", "<w:vanish/>")),
    "style": paragraph(run("no"), named("White")),
    "based": paragraph(run("no"), named("Based")),
    "char": paragraph(run("no", '<w:rStyle w:val="Tiny"/>')),
    "on_shade": paragraph(run("no", '<w:color w:val="1F3864"/>' + shd("1F3864"))),
    "on_para": paragraph(run("no", '<w:color w:val="1F3864"/>'), shd("1F3864")),
    "on_cell": table(run("no", '<w:color w:val="D9E2F3"/>'), cell=shd("D9E2F3")),
    "cell_white": table(run("no", WHITE), tbl='<w:tblStyle w:val="Grid"/>'),
    "highlight": paragraph(run("no", '<w:color w:val="FFFF00"/><w:highlight w:val="yellow"/>')),
    "white_hl": paragraph(run("no", WHITE + '<w:highlight w:val="white"/>')),
    "blackbar": paragraph(run("no", '<w:color w:val="000000"/><w:highlight w:val="black"/>')),
    "box_nofill": box(run("no", WHITE), "<a:noFill/>"),
    "box_white": box(run("no", WHITE), solid("FFFFFF")),
    "box_system": box(run("no", WHITE), '<a:solidFill><a:sysClr val="window" lastClr="FFFFFF"/></a:solidFill>'),
    "box_named": box(run("no", WHITE), '<a:solidFill><a:prstClr val="white"/></a:solidFill>'),
    "vml": vml(run("no", WHITE)),
    "vml_nofill": vml(run("no", WHITE), 'filled="f"'),
    "nofill": paragraph(run("no", fill("<w14:noFill/>"))),
    "w14white": paragraph(run("no", '<w:color w:val="000000"/>' + fill(filled("FFFFFF")))),
    "w14alpha": paragraph(run("no", fill(filled("000000", '<w14:alpha w14:val="100000"/>')))),
    "narrow": paragraph(run("no", '<w:w w:val="1"/>')),
    "no_emboss": paragraph(run("no", WHITE + '<w:emboss w:val="0"/><w:outline w:val="false"/>')),
    "no_shadow": paragraph(run("no", WHITE + f'<w14:shadow w14:dist="0" w14:sx="0" w14:sy="0">{BLACK}</w14:shadow>')),
    "no_glow": paragraph(run("no", WHITE + f'<w14:glow w14:rad="0">{BLACK}</w14:glow>')),
    "flat": paragraph(run("no"), '<w:spacing w:line="1" w:lineRule="exact"/>'),
    "solidpattern": paragraph(run("no", '<w:color w:val="FF0000"/><w:shd w:val="solid" w:color="FF0000"/>')),
    "reset": paragraph(run("no", WHITE), named("Bar") + '<w:shd w:val="clear" w:fill="FFFFFF"/>'),
    "frame": paragraph(run("no"), '<w:framePr w:w="1" w:h="1" w:hRule="exact"/>'),
    "outside": paragraph(run("no"), '<w:ind w:left="-30000"/>'),
    "outside_strict": paragraph(run("no"), '<w:ind w:start="-20000"/>'),
    "sunk": paragraph(run("no", '<w:position w:val="-3000"/>')),
    "low_row": row(run("no"), '<w:trHeight w:val="1" w:hRule="exact"/>'),
    "hidden_row": row(run("no"), "<w:hidden/>"),
    "table_in_row": row("", "<w:hidden/>", table(run("no"))),
    "hidden_box": drawn(box(run("no")), more=' hidden="1"'),
    "no_box": drawn(box(run("no")), 0, 0),
    "box_in_box": drawn(box(run("no") + vml(run("no"))), 1, 1),
    "vml_hidden": vml(run("no"), 'style="position:absolute;visibility:hidden"'),
    "vml_rect": vml(run("no"), 'style="width:0;height:0;mso-width-percent:0"').replace("shape", "rect"),
    "logo": behind(1_800_000, 1_080_000) + paragraph(run("no", WHITE)),
    "vml_white": vml_behind("") + paragraph(run("no", WHITE)),
    "vml_small": vml_behind('fillcolor="#036"', size="width:2cm;height:2cm") + paragraph(run("no", WHITE)),
    "vml_before": vml_behind('fillcolor="#036"').replace(":-2", ":2") + paragraph(run("no", WHITE)),
    "watermark": vml_behind('type="#_x0000_t136" fillcolor="silver"') + paragraph(run("no", WHITE)),
    "tab": paragraph(f"<w:r><w:rPr>{WHITE}</w:rPr><w:t>no</w:t><w:tab/><w:t>no</w:t></w:r>"),
}
STRUCK = {
    "strike": paragraph(run("no", "<w:strike/>")),
    "dstrike": paragraph(run("no", '<w:dstrike w:val="true"/>')),
    "style": paragraph(run("no", '<w:rStyle w:val="Struck"/>')),
    "para": paragraph(run("no"), named("StruckP")),
    "stroke": paragraph(run("n\u0336o\u0336")),
}
SHOWN = {
    "on_shade": paragraph(run("yes", WHITE + shd("1F3864"))),
    "para": paragraph(run("yes", WHITE), shd("000000")),
    "bar": paragraph(run("yes"), named("Bar")),
    "cell": table(run("yes", WHITE), cell=shd("1F3864")),
    "table": table(run("yes", WHITE), tbl=shd("1F3864")),
    "tablestyle": table(run("yes", WHITE), tbl='<w:tblStyle w:val="Accent"/>'),
    "tablechild": table(run("yes", THEME_WHITE), tbl='<w:tblStyle w:val="AccentChild"/>'),
    "tablebands": table(run("yes", WHITE), tbl='<w:tblStyle w:val="Bands"/>'),
    "no_hl": paragraph(run("yes", '<w:highlight w:val="abc&#10;"/>')),
    "hl": paragraph(run("yes", WHITE + '<w:highlight w:val="darkBlue"/>')),
    "box": box(run("yes", WHITE), solid("1F3864")),
    "boxscheme": box(run("yes", WHITE), '<a:solidFill><a:schemeClr val="accent1"/></a:solidFill>'),
    "boxsystem": box(run("yes", WHITE), '<a:solidFill><a:sysClr val="windowText" lastClr="000000"/></a:solidFill>'),
    "boxnamed": box(run("yes", WHITE), '<a:solidFill><a:prstClr val="black"/></a:solidFill>'),
    "boxshort": box(run("yes", WHITE), '<a:solidFill><a:prstClr val="dkBlue"/></a:solidFill>'),
    "boxhsl": box(run("yes", WHITE), '<a:solidFill><a:hslClr hue="0" sat="0" lum="0"/></a:solidFill>'),
    "boxref": box(run("yes", WHITE), style_='<wps:style><a:fillRef idx="1"/></wps:style>'),
    "boxgrad": box(run("yes", WHITE), "<a:gradFill/>"),
    "vml": vml(run("yes", WHITE), 'fillcolor="#036 [3204]"'),
    "auto": paragraph(run("yes", '<w:color w:val="auto"/>')),
    "autostyle": paragraph(run("yes", '<w:color w:val="auto"/>'), named("White")),
    "direct": paragraph(run("yes", '<w:color w:val="333333"/>'), named("White")),
    "char": paragraph(run("yes", '<w:rStyle w:val="Black"/>'), named("White")),
    "grey": paragraph(run("yes", '<w:color w:val="BFBFBF"/>')),
    "small": paragraph(run("yes", '<w:sz w:val="8"/>')),
    "sized": paragraph(run("yes", '<w:rStyle w:val="Tiny"/><w:sz w:val="20"/>')),
    "strike0": paragraph(run("yes", '<w:strike w:val="0"/>')),
    "toggled": paragraph(run("yes", '<w:rStyle w:val="Struck"/>'), named("StruckP")),
    "off": paragraph(run("yes", '<w:strike w:val="false"/>'), named("StruckP")),
    "web": paragraph(run("yes", "<w:webHidden/>")),
    "pattern": paragraph(run("yes", WHITE + '<w:shd w:val="pct50" w:color="000000" w:fill="FFFFFF"/>')),
    "outline": paragraph(
        run(
            "yes",
            WHITE + '<w14:textOutline w14:w="9525"><w14:solidFill><w14:srgbClr w14:val="000000"/>'
            "</w14:solidFill></w14:textOutline>",
        )
    ),
    "embossed": paragraph(run("yes", WHITE + "<w:emboss/>")),
    "imprinted": paragraph(run("yes", WHITE + "<w:imprint/>")),
    "outlined": paragraph(run("yes", "<w:outline/>" + WHITE)),
    "shadowed": paragraph(run("yes", WHITE + '<w:shadow w:val="1"/>')),
    "shadowed_style": paragraph(run("yes", "<w:shadow/>"), named("White")),
    "far_shadow": paragraph(run("yes", WHITE + f'<w14:shadow w14:sx="100000">{BLACK}</w14:shadow>')),
    "glow": paragraph(run("yes", WHITE + f'<w14:glow w14:rad="63500">{BLACK}</w14:glow>')),
    "outline_none": paragraph(
        run(
            "yes",
            "<w14:textOutline><w14:noFill/></w14:textOutline>" + fill(filled("333333", '<w14:alpha w14:val="40000"/>')),
        )
    ),
    "grad": paragraph(
        run(
            "yes",
            fill(
                '<w14:gradFill><w14:gsLst><w14:gs><w14:srgbClr w14:val="FFFFFF"/></w14:gs></w14:gsLst></w14:gradFill>'
            ),
        )
    ),
    "lum": paragraph(
        run(
            "yes",
            fill(
                '<w14:solidFill><w14:schemeClr w14:val="bg1"><w14:lumMod w14:val="50000"/>'
                "</w14:schemeClr></w14:solidFill>"
            ),
        )
    ),
    "markonly": paragraph(run("yes"), '<w:rPr><w:color w:val="FFFFFF"/><w:strike/></w:rPr>'),
    "exact": paragraph(run("yes"), '<w:spacing w:line="240" w:lineRule="exact"/>'),
    "theme": paragraph(run("yes", '<w:color w:val="FFFFFF" w:themeColor="text1"/>')),
    "themeshade": paragraph(run("yes", '<w:color w:val="FFFFFF" w:themeColor="background1" w:themeShade="80"/>')),
    "themefill": paragraph(run("yes", WHITE + '<w:shd w:val="clear" w:fill="FFFFFF" w:themeFill="text1"/>')),
    "aftercell": table(run(""), cell=shd("000000")) + paragraph(run("yes", '<w:color w:val="000000"/>')),
    "behind": behind(7_000_000, 9_000_000) + paragraph(run("yes", WHITE)),
    "frame": paragraph(run("yes"), '<w:framePr w:w="900" w:h="1" w:hRule="atLeast"/>'),
    "margin": paragraph(run("yes"), '<w:ind w:left="-1440" w:hanging="360"/>'),
    "lowered": paragraph(run("yes", '<w:position w:val="-6"/>')),
    "low_row": row(run("yes"), '<w:trHeight w:val="1"/>'),
    "exact_row": row(run("yes"), '<w:trHeight w:val="284" w:hRule="exact"/><w:hidden w:val="0"/>'),
    "former_row": row(run("yes"), "<w:trPrChange><w:trPr><w:hidden/></w:trPr></w:trPrChange>"),
    "after_row": row("", "<w:hidden/>") + paragraph(run("yes")),
    "small_box": drawn(box(run("yes")), 360_000, 180_000),
    "low_box": drawn(box(run("yes")), 3_600_000, 0),
    "after_box": drawn(box(""), 0, 0) + paragraph(run("yes")),
    "vml_share": vml(run("yes"), 'style="width:0;height:0;mso-width-percent:400"'),
    "vml_fitting": vml(run("yes"), 'style="width:1pt;height:1pt;mso-wrap-style:none"'),
    "banner": behind(7_560_000, 1_080_000) + paragraph(run("yes", WHITE)),
    "sidebar": behind(2_160_000, 10_440_000) + paragraph(run("yes", WHITE)),
    "vml_behind": vml_behind('fillcolor="#036"') + paragraph(run("yes", WHITE)),
    "vml_gradient": vml_behind("", '<v:fill type="gradient"/>') + paragraph(run("yes", WHITE)),
}


def document_of(body: str, background: str = "", styles: str = STYLES, **parts: str) -> Document:
    main = f"<w:document {NAMESPACES}>{background}<w:body>{body}</w:body></w:document>"
    named_parts = {f"word/{name}.xml": content for name, content in parts.items()}
    return read_docx(package_of(main, {"word/styles.xml": styles, **named_parts}), limits=DocumentLimits())


@pytest.mark.parametrize("body", HIDDEN.values(), ids=HIDDEN.keys())
def test_text_that_nobody_sees_is_left_out_and_counted(body: str) -> None:
    document = document_of(body)
    assert document.text == ""
    assert document.partly_read == (PartlyRead(None, UnreadReason.HIDDEN, (), body.count(">no<") * 2),)


@pytest.mark.parametrize("body", STRUCK.values(), ids=STRUCK.keys())
def test_struck_out_text_is_left_out_and_counted_apart(body: str) -> None:
    document = document_of(body)
    assert document.text == ""
    assert document.partly_read == (PartlyRead(None, UnreadReason.STRUCK, (), 2),)


@pytest.mark.parametrize("body", SHOWN.values(), ids=SHOWN.keys())
def test_text_that_a_person_can_see_stays(body: str) -> None:
    document = document_of(body)
    assert (document.text, document.partly_read) == ("yes", ())


@pytest.mark.parametrize("body", [SHOWN[name] for name in SHOWN if "table" in name])
def test_the_prefix_of_the_styles_makes_no_difference(body: str) -> None:
    styles = re.sub("(?<=[ </])w:|(?<=xmlns):w(?==)", lambda found: found[0].replace("w", "ns0"), STYLES)
    assert "w:" not in styles
    assert document_of(body, styles=styles).text == document_of(body).text == "yes"


def test_a_pages_background_is_the_ground_where_it_shows() -> None:
    dark, shown = '<w:background w:color="1F3864"/>', "<w:settings><w:displayBackgroundShape/></w:settings>"
    white, blue = paragraph(run("white", WHITE)), paragraph(run("blue", '<w:color w:val="1F3864"/>'))
    assert document_of(white + blue, dark, settings=shown).text == "white"
    assert document_of(white + blue, dark).text == "blue"


def test_a_box_without_fill_may_stand_on_a_picture() -> None:
    white = box(run("yes", WHITE), "<a:noFill/>")
    main = f"<w:document {NAMESPACES}><w:body>{white}</w:body></w:document>"
    assert read_docx(package_of(main, {"word/media/photo.png": b""}), limits=DocumentLimits()).text == "yes"


def test_a_themes_colours_count_before_the_values_beside_them() -> None:
    theme = '<a:clrScheme><a:lt1><a:sysClr val="window" lastClr="202020"/></a:lt1></a:clrScheme>'
    white = paragraph(run("yes", THEME_WHITE)) + paragraph(run("no", WHITE))
    main = f"<w:document {NAMESPACES}><w:body>{white}</w:body></w:document>"
    assert read_docx(package_of(main, {"word/theme/theme1.xml": theme}), limits=DocumentLimits()).text == "yes"
