"""Japanese, Chinese, Korean, Arabic, Hindi, and Malay with Indonesian."""

from __future__ import annotations

from service.core.fields.vocabulary.words import BillWords

JAPANESE = BillWords(
    total="合計 合計金額 総計 総額",
    gross="税込合計 合計税込 税込金額 税込",
    to_pay="請求金額 ご請求金額 ご請求額 お支払金額 お会計",
    net="税抜合計 税抜金額 税抜",
    subtotal="小計",
    tax="消費税 消費税額 内税 外税 税額 内消費税",
    paid="お預り お預かり 現金 クレジット カード支払",
    change="お釣り おつり 釣銭",
    no_sum="数量 点数 値引 割引 単価 送料 対象 ポイント 買上点数",
    due="支払期限 お支払期限 支払期日",
    dated="発行日 日付 請求日 領収日",
    another_day="納品日 納期 注文日",
    bill="請求書 請求書番号 領収書 領収証",
    order="注文 注文書",
    number="番号",
    seller="販売者 発行者",
    buyer="お客様 請求先",
)

CHINESE = BillWords(
    total="合计 合計 总计 總計 总额",
    gross="价税合计 價稅合計 含税合计",
    to_pay="应付金额 應付金額 应付 实付 实收 應付",
    net="不含税金额 不含税",
    subtotal="小计 小計",
    tax="税额 稅額 增值税 營業稅 税金",
    sums="金额 金額",
    paid="现金 現金 微信支付 支付宝 刷卡",
    change="找零 找赎 找贖",
    no_sum="数量 數量 折扣 单价 單價 运费 運費 优惠 定金 件数",
    due="付款日期 付款期限 到期日",
    dated="日期 开票日期 開立日期",
    another_day="交货日期 订单日期",
    bill="发票 發票 收据",
    order="订单 訂單",
    number="号码 號碼",
    seller="销售方 卖方 賣方",
    buyer="购买方 买方 買方 客户",
)

KOREAN = BillWords(
    total="합계 총계 총액 합계금액 총금액",
    to_pay="결제금액 청구금액 받을금액 총결제금액",
    net="공급가액 과세금액",
    subtotal="소계",
    tax="부가세 세액 부가가치세",
    sums="금액",
    paid="현금 카드 받은금액",
    change="거스름돈",
    no_sum="수량 할인 단가 배송비 포인트",
    due="납부기한 지급기한 결제기한",
    dated="발행일 작성일자 거래일시",
    another_day="납품일 주문일",
    bill="송장 청구서 세금계산서 영수증",
    order="주문",
    number="번호",
    seller="공급자 판매자",
    buyer="공급받는자 구매자",
)

ARABIC = BillWords(
    total="المجموع الإجمالي إجمالي مجموع المبلغ_الإجمالي",
    to_pay="المبلغ_المستحق المستحق الصافي_للدفع",
    net="المجموع_قبل_الضريبة الإجمالي_بدون_الضريبة",
    subtotal="المجموع_الفرعي المجموع_الجزئي",
    tax="ضريبة الضريبة ضريبة_القيمة_المضافة",
    sums="المبلغ",
    including="شامل شاملة مع",
    excluding="بدون غير_شامل قبل",
    paid="نقدا نقدًا المدفوع",
    change="الباقي",
    no_sum="الكمية خصم الخصم السعر عربون",
    due="تاريخ_الاستحقاق",
    dated="التاريخ تاريخ_الفاتورة تاريخ",
    another_day="تاريخ_التسليم",
    bill="فاتورة الفاتورة",
    order="طلب الطلب أمر_الشراء",
    number="رقم",
    seller="المورد البائع",
    buyer="العميل المشتري",
)

HINDI = BillWords(
    total="कुल कुल_राशि कुल_योग योग",
    to_pay="देय_राशि",
    subtotal="उप_योग",
    tax="कर जीएसटी",
    sums="राशि",
    paid="नकद",
    no_sum="मात्रा छूट",
    due="देय_तिथि",
    dated="दिनांक तिथि",
    bill="बीजक चालान",
    seller="विक्रेता",
    buyer="ग्राहक खरीदार",
)

MALAY = BillWords(
    total="jumlah jumlah_besar",
    to_pay="jumlah_perlu_dibayar total_bayar",
    rounded="jumlah_selepas_penggenapan",
    subtotal="jumlah_kecil",
    tax="cukai pajak ppn",
    paid="tunai bayar",
    change="baki kembali kembalian",
    no_sum="kuantiti diskaun diskon",
    rounding="penggenapan pembundaran",
    due="tarikh_akhir jatuh_tempo",
    dated="tarikh tanggal",
    bill="invois faktur resit",
    buyer="pelanggan pembeli",
)
