"""English."""

from __future__ import annotations

from service.core.fields.vocabulary.words import BillWords

ENGLISH = BillWords(
    total="total totals",
    gross="grand_total gross gross_amount gross_total total_gross",
    to_pay="amount_due total_due balance_due due_amount amount_payable amt_payable total_payable amount_to_pay to_pay "
    "please_pay final_total amount_owing balance_owing balance_to_pay balance_payable outstanding outstanding_balance "
    "amount_outstanding current_payment_due payment_due current_amount_due pay_this_amount remaining_balance "
    "amount_now_due net_payable",
    rounded="rounded after_rounding rounded_total total_rounded",
    net="net_amount net_value net_of_tax taxable_amount total_net taxable_value taxable_amt taxable_total "
    "total_taxable assessable_value",
    net_or_total="net nett net_total nett_total",
    subtotal="subtotal sub_total total_before_tax",
    tax="tax taxes vat gst hst sst sales_tax service_tax cgst sgst igst utgst cess qst pst rst state_tax county_tax "
    "city_sales_tax district_tax use_tax sales_and_use_tax iva",
    sums="amount amt sales value",
    including="incl including inclusive inc included",
    excluding="excl excluding exclusive exc ex without w/o before",
    paid="cash paid tender tendered cash_received amount_received visa master mastercard amex credit_card debit_card "
    "credit debit card",
    change="change change_due cash_change",
    no_sum="qty quantity item items pcs pax point points unit_price capital hours weight per exchange_rate "
    "rate_of_exchange conversion_rate fx_rate",
    tax_base="base tax_base taxable_base vat_base net_of on",
    exempt="exempt tax_exempt vat_exempt exempted zero_rated zero_rate reverse_charge reverse_charged gst_free "
    "out_of_scope outside_the_scope not_subject_to no_vat no_tax no_sales_tax non_taxable intra_community_supply",
    early_payment="early_payment prompt_payment cash_discount early_settlement settlement_discount if_paid_within "
    "if_paid_by discount_if_paid",
    untaxed="city_tax tourist_tax tourism_levy tourism_fee occupancy_tax non_taxable non_taxed disbursements "
    "bottle_deposit container_deposit",
    tip="tip tips gratuity",
    service_charge="service_charge service_fee svc_chg serv_chg discretionary_service optional_service",
    shipping="shipping freight delivery handling postage carriage shipping_and_handling shipping_&_handling s&h p&p",
    withholding="withholding withholding_tax tax_withheld cis cis_tax cis_deduction tds less_tds retention retainage",
    discount="saving savings saved disc discount discounts coupon voucher rebate promo promotion promo_code",
    prepaid="deposit deposits deposit_paid prepaid prepayment part_payment down_payment payment_on_account "
    "already_paid paid_to_date previous_payment previous_payments payments_received payment_received less_payments "
    "less_paid retainer_applied",
    brought_forward="balance_brought_forward brought_forward previous_balance unpaid_balance previous_unpaid_balance "
    "opening_balance past_due past_due_amount prior_balance",
    rounding="round rounding rounding_adj* round_adj*",
    due="due due_date payable_by payable_until payment_by payment_until pay_by pay_until payment_due due_on due_by "
    "please_pay_by payment_due_date date_due direct_debit_date direct_debit_on will_be_debited_on "
    "will_be_debited_on_or_after will_be_collected_on will_be_charged_on payable_on pay_before due_before "
    "latest_payment_date last_date_for_payment payment_date",
    dated="date dated date_of_issue issued issue_date issued_on billing_date bill_date",
    supply="delivery_date date_of_delivery delivery_dates delivered delivered_on date_delivered shipping_date "
    "ship_date shipped shipped_on date_shipped shipment_date dispatch_date despatch_date dispatched_on "
    "date_of_dispatch service_date service_dates date_of_service dates_of_service service_period supply_date "
    "date_of_supply period_of_supply supply_period billing_period billed_period invoice_period invoicing_period "
    "period_covered period_of_service performance_date performance_period training_date training_dates "
    "work_carried_out work_done delivery supply service_rendered period rental_period usage_period statement_period "
    "tuition_period",
    discount_until="discount_until discount_by discount_date discount_if_paid_by if_paid_by if_paid_before "
    "if_paid_on_or_before if_you_pay_by if_payment_is_received_by if_received_by early_payment_by discount",
    another_day="accepted accepted_on signed_on approved_on "
    "order_date print_date start_date end_date birth_date date_of_birth expiry_date date_of_order "
    "order_placed ordered ordered_on po_date printed printed_on printed_at date_printed born dob expiry expiration "
    "expiration_date expires expires_on expired exp exp_date valid valid_until valid_till valid_to valid_from "
    "valid_thru valid_through good_thru good_until paid paid_on paid_in_full date_paid payment_received "
    "payment_received_on received_on received card_payment visa mastercard maestro amex paypal ideal klarna "
    "apple_pay google_pay debited debited_on charged_on collected_on next_invoice next_bill next_statement "
    "next_payment next_billing next_billing_date next_charge next_meter_reading renewal_date renewal renews "
    "renews_on as_of as_at as_on balance_as_of balance_on contract_date date_of_contract contract_start contract_end "
    "agreement_date meter_reading meter_read reading_date read_on last_reading previous_reading latest_reading "
    "quote_date quotation_date offer_date expected_delivery estimated_delivery delivery_expected expected_by "
    "check_in check_out arrival departure arrival_date departure_date warranty_until last_payment last_bill "
    "last_invoice previous_bill contract_since member_since customer_since downloaded_on exported_on revision "
    "not_valid_after not_valid_before accepted accepted_on approved_on signed_on",
    bill="invoice receipt bill inv doc document",
    bill_number="rcti cn credit_ref",
    order="order order_reference order_ref p.o./s.o.",
    your_order="your_order your_po your_p.o. your_purchase_order customer_po customer_p.o. customer_order "
    "purchase_order po p.o. your_ref your_reference customer_reference client_reference buyer_order buyer's_order "
    "buyers_order customer's_order client_po",
    another_bill="related_invoice original_invoice corrected_invoice previous_invoice for_invoice ref_invoice "
    "invoice_ref linked_invoice credited_invoice proforma_invoice pro_forma_invoice initial_invoice invoice_credited "
    "credit_against_invoice in_respect_of_invoice against_invoice earlier_invoice replaces_invoice invoice_corrected "
    "refers_to_invoice reference_to_invoice original_bill regarding_invoice re_invoice relating_to_invoice "
    "for_our_invoice",
    another_number="customer client acct a/c contract agreement meter policy member membership delivery_note "
    "delivery_docket packing_slip packing_list quote quotation offer project job_no sales_order our_order "
    "our_order_ref company company_reg* registration reg. vat_reg* tax_registration terminal approval auth* tracking "
    "vehicle patient phone tel fax supplier vendor customer_account mandate creditor supply_number mpan mprn",
    number="no nr num number id code n° n.",
    reference="payment_reference payment_ref reference_for_payment remittance_reference please_quote "
    "please_quote_reference quote_reference quoting_reference reference_to_quote please_quote_when_paying "
    "structured_communication creditor_reference bank_reference payment_id communication_for_your_payment "
    "payment_communication bacs_reference reference_on_payment giro_reference bpay_ref",
    seller="from seller supplier vendor vendor_name remit_to billed_from issued_by sold_by service_provider "
    "shipped_by payee",
    buyer="bill_to billed_to invoice_to invoiced_to sold_to billing_address invoice_address attn messrs customer "
    "buyer client purchaser ship_to bill_to_party attention recipient payer account_holder",
    to="to att",
    currency="currency currency_code invoice_currency document_currency amounts_in all_amounts_in prices_in",
    credit="credit_note credit_memo credit_memorandum credit_invoice refund_note",
    correction="corrective_invoice correction_invoice adjustment_note",
    tax_number="vat vat_no vat_number vat_id vat_reg* vat_registration* vat_reg_no tax_id tax_no tax_number tax_reg* "
    "tin ein abn gstin gst_no gst_reg* gst_number uin fein federal_tax_id trn gst/hst",
    your="your",
    representative="tax_representative fiscal_representative tax_agent",
    other_number="serial serial_no serial_number s/n sn imei duns gln account_no account_number account routing "
    "routing_number sort_code bsb aba",
    debit="direct_debit direct_debited debit_your_account your_account your_bank_account your_bank "
    "we_will_debit we_will_collect will_be_debited will_be_collected debited_from collected_from mandate "
    "mandate_reference sepa_mandate charged_to_your payer's_account debtor's_account debtor_iban",
    transfer="transfer bank_transfer pay_to payable_to remit remit_to our_account payments_to",
    deposit="deposit deposits advance_payment advance_invoice prepayment_invoice part_payment "
    "progress_invoice interim_invoice part_invoice already_paid already_invoiced "
    "previously_invoiced less_paid on_account",
    carried="carried_forward brought_forward carried_over carry_over balance_b/f c/f b/f",
)
