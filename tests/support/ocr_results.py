"""Results of OCR programs as these write them: hOCR of Tesseract, ALTO, and the JSON of AWS Textract."""

from __future__ import annotations

from typing import Any

HOCR = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN"
    "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en" lang="en">
 <head>
  <title></title>
  <meta http-equiv="Content-Type" content="text/html;charset=utf-8"/>
  <meta name='ocr-system' content='tesseract 5.3.0' />
  <meta name='ocr-capabilities' content='ocr_page ocr_carea ocr_par ocr_line ocrx_word ocrp_wconf'/>
 </head>
 <body>
  <div class='ocr_page' id='page_1' title='image "scan.png"; bbox 0 0 2480 3508; ppageno 0; scan_res 300 300'>
   <div class='ocr_carea' id='block_1_1' title="bbox 200 210 900 330">
    <p class='ocr_par' id='par_1_1' lang='deu' title="bbox 200 210 900 330">
     <span class='ocr_line' id='line_1_1' title="bbox 200 210 900 262; baseline 0 -12; x_size 50">
      <span class='ocrx_word' id='word_1_1' title='bbox 200 210 480 262; x_wconf 96'><strong>Größe</strong></span>
      <span class='ocrx_word' id='word_1_2' title='bbox 500 210 900 262; x_wconf 91'>M&amp;S</span>
     </span>
     <span class='ocr_line' id='line_1_2' title="bbox 200 280 600 330; baseline 0 -12; x_size 50">
      <span class='ocrx_word' id='word_1_3' title='bbox 200 280 420 330; x_wconf 95'>Total:</span>
      <span class='ocrx_word' id='word_1_4' title='bbox 430 280 440 330; x_wconf 95'> </span>
      <span class='ocrx_word' id='word_1_5' title='bbox 450 280 2490 330; x_wconf 90'>12,50</span>
     </span>
    </p>
   </div>
  </div>
  <div class='ocr_page' id='page_2' title='image "scan.png"; bbox 0 0 2480 3508; ppageno 1'>
   <div class='ocr_photo' title="bbox 0 0 100 100"></div>
   <span class='ocrx_word' title='bbox 5 5 50 20; x_wconf 50'>end</span>
  </div>
 </body>
</html>
"""
ALTO = """<?xml version="1.0" encoding="UTF-8"?>
<!-- made by a program -->
<alto xmlns="http://www.loc.gov/standards/alto/ns-v{version}#" xmlns:xlink="http://www.w3.org/1999/xlink">
  <Description><MeasurementUnit>{unit}</MeasurementUnit></Description>
  <Styles><TextStyle ID="TS1" FONTSIZE="10"/></Styles>
  <Layout>
    <Page ID="P1" PHYSICAL_IMG_NR="1" {size}>
      <PrintSpace HPOS="50" VPOS="100" WIDTH="1950" HEIGHT="2700">
        <ComposedBlock ID="C1"><TextBlock ID="B1" HPOS="100" VPOS="100" WIDTH="900" HEIGHT="120">
          <TextLine HPOS="100" VPOS="100" WIDTH="900" HEIGHT="40">
            <String CONTENT="A&amp;&#228;" HPOS="100" VPOS="100" WIDTH="60.5" HEIGHT="40" WC="0.98"/>
            <SP HPOS="160" WIDTH="10"/>
            <String CONTENT="Rech" HPOS="180" VPOS="100" WIDTH="100" HEIGHT="40"
              SUBS_TYPE="HypPart1" SUBS_CONTENT="Rechnung"/>
            <HYP CONTENT="­"/>
          </TextLine>
          <TextLine HPOS="100" VPOS="160" WIDTH="900" HEIGHT="40">
            <String CONTENT="nung" HPOS="100" VPOS="160" WIDTH="90" HEIGHT="40"
              SUBS_TYPE="HypPart2" SUBS_CONTENT="Rechnung"/>
          </TextLine>
        </TextBlock></ComposedBlock>
      </PrintSpace>
    </Page>
  </Layout>
</alto>
"""
SIZE = 'WIDTH="2100" HEIGHT="2970"'


def word(text: str, left: float, top: float, page: int | None = None, **more: Any) -> dict[str, Any]:
    """A block of Textract for a word of a tenth of the page."""
    box = {"Width": 0.1, "Height": 0.02, "Left": left, "Top": top}
    corners = [(left, top), (left + 0.1, top), (left + 0.1, top + 0.02), (left, top + 0.02)]
    geometry = {"BoundingBox": box, "Polygon": [{"X": x, "Y": y} for x, y in corners]}
    return {
        "BlockType": "WORD", "Confidence": 99.8, "Text": text, "TextType": "PRINTED", "Geometry": geometry, "Id": "w",
        **({} if page is None else {"Page": page}), **more,
    }  # fmt: skip


def textract(*blocks: dict[str, Any], pages: int = 1) -> dict[str, Any]:
    page = {"BlockType": "PAGE", "Geometry": {}, "Id": "p", "Relationships": [{"Type": "CHILD", "Ids": ["l"]}]}
    line = {**word("Invoice INV-1", 0.1, 0.1), "BlockType": "LINE"}
    return {
        "DocumentMetadata": {"Pages": pages},
        "Blocks": [page, line, *blocks],
        "DetectDocumentTextModelVersion": "1",
    }


WORDS = (word("Invoice", 0.1, 0.1), word("INV-1", 0.25, 0.1), word("Total", 0.1, 0.2))
