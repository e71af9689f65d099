"""French, Spanish, Italian and Portuguese."""

from __future__ import annotations

from service.core.fields.vocabulary.words import BillWords

FRENCH = BillWords(
    total="total montant_total total_général total_facture",
    gross="ttc total_ttc montant_ttc",
    to_pay="net_à_payer à_payer reste_à_payer solde_à_payer total_à_payer reste_dû solde_dû reste_à_régler solde "
    "montant_dû",
    rounded="arrondi",
    net="ht hors_taxe hors_taxes total_ht montant_ht net_ht",
    subtotal="sous_total",
    tax="tva taxe taxes montant_tva total_tva tps tvq tvh tvp total_taxes octroi_de_mer",
    sums="montant",
    including="dont y_compris inclus incluse",
    excluding="hors",
    paid="espèces cb carte_bancaire payé réglé",
    change="rendu rendu_monnaie monnaie",
    no_sum="quantité qté escompte prix_unitaire capital articles taux_de_change cours_de_change",
    tax_base="sur base base_ht",
    exempt="autoliquidation exonéré* exonération* non_assujetti* tva_non_applicable non_applicable franchise_en_base",
    early_payment="escompte escompte_pour_paiement_anticipé",
    untaxed="taxe_de_séjour consigne consignes débours hors_champ non_taxable exonéré exonérée",
    tip="pourboire",
    service_charge="frais_de_service",
    shipping="port franco frais_de_port livraison frais_de_livraison frais_d'expédition transport",
    withholding="retenue_à_la_source retenue_de_garantie précompte",
    discount="remise* rabais ristourne bon_de_réduction réduction",
    prepaid="acompte acomptes acompte_versé arrhes déjà_payé déjà_réglé déjà_versé avance règlements_reçus",
    brought_forward="solde_antérieur solde_précédent ancien_solde report_à_nouveau arriéré",
    due="échéance date_d'échéance à_payer_avant payable_le payable_avant date_limite_de_paiement date_de_règlement "
    "à_régler_avant prélèvement_le sera_prélevé_le serez_prélevé_le prélevé_à_partir_du à_régler_le "
    "à_régler_avant_le à_payer_le à_payer_avant_le date_limite à_payer_au_plus_tard_le paiement_avant_le "
    "date_de_prélèvement",
    dated="date_de_facture date_de_facturation date_d'émission émise_le en_date_du date",
    supply="date_de_livraison livré_le livrée_le livraison livraison_le date_de_prestation date_de_la_prestation "
    "date_d'exécution date_de_réalisation prestation prestation_du période_de_prestation période_de_facturation "
    "période_facturée période_de_consommation période date_d'expédition expédié_le expédiée_le date_de_service "
    "date_d'intervention",
    discount_until="escompte escompte_jusqu'au escompte_si_paiement_avant_le si_paiement_avant_le si_paiement_avant "
    "en_cas_de_paiement_avant_le en_cas_de_paiement_avant si_payé_avant_le escompte_pour_paiement_avant_le",
    another_day="versé_le versée_le signé_le accepté_le "
    "date_de_commande date_de_naissance commande_du commandé_le commandée_le date_d'impression "
    "imprimé_le imprimée_le édité_le né_le née_le date_d'expiration expiration expire expire_le valable_jusqu'au "
    "valable_au valable_jusqu'à valide_jusqu'au date_de_validité validité à_consommer_avant dlc payé payée payé_le "
    "payée_le réglé réglé_le réglée_le acquitté_le acquittée_le encaissé_le paiement_reçu paiement_reçu_le reçu_le "
    "prélevé_le débité_le débité prochaine_facture prochaine_échéance prochain_prélèvement prochain_relevé "
    "prochain_paiement prochaine_relève solde_au solde arrêté_au situation_au relevé relevé_le relève relève_du "
    "index date_du_contrat date_de_contrat souscrit_depuis contrat_du date_de_début date_de_fin début fin "
    "date_du_devis devis_du arrivée départ client_depuis garantie_jusqu'au dernier_paiement dernière_facture versé "
    "versée versé_le versée_le accepté_le signé_le",
    bill="facture ticket reçu",
    bill_number="pièce pièce_n°",
    order="réf_commande référence_commande",
    your_order="votre_commande bon_de_commande votre_bon_de_commande votre_référence votre_réf. v/réf. v/réf "
    "v/commande commande_client commande",
    another_bill="facture_liée facture_d'origine facture_initiale facture_rectifiée sur_facture facture_concernée "
    "facture_proforma facture_pro_forma facture_précédente annule_la_facture annulant_la_facture "
    "relatif_à_la_facture relative_à_la_facture avoir_sur_la_facture remplace_la_facture concerne_la_facture "
    "suite_à_la_facture facture_annulée",
    another_number="client compte contrat compteur devis bon_de_livraison bl dossier projet chantier siret siren rcs "
    "tva tva_intracom* pdl prm point_de_livraison série adhérent sociétaire police fournisseur mandat rum "
    "notre_commande compte_client compte_de_facturation tél. téléphone acheminement",
    number="numéro n°",
    reference="référence_de_paiement réf._de_paiement référence_du_paiement référence_à_rappeler "
    "référence_à_indiquer à_rappeler motif_de_paiement motif_versement communication communication_structurée "
    "référence_qr référence_créancier libellé_du_virement libellé_virement référence_virement",
    seller="vendeur fournisseur émetteur prestataire vendu_par",
    buyer="acheteur destinataire facturé_à facturée_à adresse_de_facturation à_l'attention_de client "
    "adresse_de_livraison facturation livré_à bénéficiaire payeur",
    to="à",
    by="de",
    currency="devise monnaie devise_de_facturation montants_en",
    credit="avoir facture_d'avoir note_de_crédit",
    correction="facture_rectificative",
    tax_number="tva_intra* n°_tva n°_de_tva numéro_de_tva tva_intracommunautaire n°_tva_intra* id_tva siret siren "
    "tva n°_tps n°_tvq",
    your="votre vos",
    representative="représentant_fiscal",
    other_number="n°_de_série numéro_de_série numéro_de_compte n°_de_compte duns",
    debit="prélèvement* prélevé prélevée prélever débité débitée votre_compte mandat mandat_sepa rum "
    "référence_unique_de_mandat domiciliation compte_à_débiter",
    transfer="virement virer notre_compte à_l'ordre_de régler_à",
    deposit="*acompte* arrhes avance avances facture_de_situation déjà_réglé déjà_payé déjà_facturé déjà_versé",
    carried="report à_reporter report_page",
)

SPANISH = BillWords(
    total="importe_total total_factura total_general",
    gross="total_con_iva bruto",
    to_pay="total_a_pagar a_pagar importe_a_pagar líquido_a_pagar saldo_pendiente pendiente_de_pago resta_por_pagar "
    "líquido_a_percibir total_a_percibir",
    rounded="redondeado",
    net="base_imponible importe_neto neto total_sin_iva",
    subtotal="subtotal",
    tax="iva igic impuesto impuestos cuota_iva total_iva recargo_de_equivalencia recargo_equivalencia recargo_equiv "
    "rec_equiv ipsi igv cuota cuota_re",
    sums="importe",
    including="incluido con",
    excluding="sin",
    paid="efectivo entregado tarjeta pagado",
    change="cambio",
    no_sum="cantidad precio_unitario unidades tipo_de_cambio tasa_de_cambio",
    tax_base="base sobre b.i. base_imp",
    exempt="exento* exenta inversión_del_sujeto_pasivo no_sujeto no_sujeta",
    early_payment="pronto_pago descuento_por_pronto_pago dto_pronto_pago",
    untaxed="tasa_turística impuesto_turístico suplidos exento",
    tip="propina",
    shipping="portes envío gastos_de_envío transporte",
    withholding="retención retenciones retención_irpf irpf ret_irpf",
    discount="descuento* dto bonificación",
    prepaid="anticipo anticipos a_cuenta entrega_a_cuenta ya_pagado pagos_a_cuenta señal provisión_de_fondos",
    brought_forward="saldo_anterior",
    due="vencimiento fecha_de_vencimiento pagar_antes_del vence_el fecha_límite_de_pago fecha_de_cargo fecha_límite "
    "se_cargará_el pagadero_el pagar_hasta_el pagar_antes_de fecha_tope_de_pago vencimientos",
    dated="fecha fecha_de_factura fecha_factura fecha_de_emisión emitida_el",
    supply="fecha_de_entrega entregado entregado_el entrega fecha_de_operación fecha_operación fecha_de_prestación "
    "fecha_del_servicio fecha_de_servicio periodo_de_facturación período_de_facturación periodo_facturado "
    "período_facturado periodo período periodo_de_consumo fecha_de_envío enviado_el fecha_albarán servicio_prestado",
    discount_until="descuento_por_pronto_pago pronto_pago descuento_hasta descuento_si_paga_antes_del "
    "si_paga_antes_del si_se_paga_antes_del pagando_antes_del por_pago_antes_del si_se_abona_antes_del "
    "si_abona_antes_del",
    another_day="abonado_el ingresado_el firmado_el aceptado_el "
    "fecha_de_pedido fecha_pedido pedido_el fecha_de_impresión impreso_el impreso fecha_de_nacimiento "
    "nacido_el fecha_de_caducidad caducidad caduca caduca_el válido_hasta válida_hasta válido_desde validez vigencia "
    "vigente_hasta consumir_antes pagado pagada pagado_el pagada_el abonado_el cobrado_el pago_recibido "
    "pago_recibido_el recibido_el cargado_el adeudado_el próxima_factura próximo_pago próximo_cargo próxima_lectura "
    "próximo_cobro saldo_a saldo_al saldo a_fecha_de lectura lectura_del fecha_de_lectura fecha_de_contrato "
    "fecha_del_contrato contrato_de inicio fin fecha_de_inicio fecha_de_fin fecha_de_presupuesto llegada salida "
    "cliente_desde último_pago última_factura bizum",
    bill="factura recibo ticket",
    bill_number="folio documento",
    order="pedido",
    your_order="su_pedido su_orden_de_compra orden_de_compra su_referencia pedido_de_cliente",
    another_bill="factura_rectificada factura_original ref_factura factura_proforma factura_pro_forma "
    "factura_anterior factura_abonada sobre_factura a_la_factura factura_que_rectifica rectifica_a_la_factura "
    "anula_la_factura factura_anulada referente_a_la_factura relativa_a_la_factura corresponde_a_la_factura",
    another_number="cliente contrato contador presupuesto albarán proyecto expediente cuenta póliza socio proveedor "
    "nif cif n.i.f. c.i.f. cups serie mandato nuestro_pedido registro tel. teléfono obra",
    number="número núm n.º",
    reference="referencia_de_pago referencia_del_pago ref._de_pago concepto concepto_de_pago "
    "concepto_de_la_transferencia indicar_en_el_pago referencia_bancaria referencia_de_cobro "
    "número_de_referencia_de_pago",
    seller="vendedor proveedor emisor emitida_por prestador vendido_por",
    buyer="comprador cliente facturar_a facturado_a destinatario receptor pagador dirección_de_facturación "
    "dirección_de_envío señores",
    to="para",
    currency="moneda divisa importes_en",
    credit="nota_de_crédito nota_crédito nota_de_abono factura_de_abono abono",
    correction="factura_rectificativa",
    tax_number="nif cif nie nit rfc rut ruc cuit nº_iva n.i.f. c.i.f. número_de_iva nif_iva",
    your="su sus vuestro",
    representative="representante_fiscal",
    other_number="número_de_serie nº_de_serie nº_serie número_de_cuenta",
    debit="domiciliación* domiciliado domiciliada adeudo adeudo_directo cargo_en_cuenta cargo_en_su_cuenta "
    "su_cuenta mandato recibo_domiciliado cargaremos se_cargará",
    transfer="transferencia nuestra_cuenta ingreso_en",
    deposit="anticipo* factura_de_anticipo a_cuenta entrega_a_cuenta factura_parcial ya_pagado "
    "ya_facturado señal pago_anticipado",
    carried="suma_y_sigue suma_anterior",
)

ITALIAN = BillWords(
    total="totale importo_totale totale_fattura totale_documento totale_complessivo",
    gross="totale_ivato lordo",
    to_pay="netto_a_pagare totale_a_pagare da_pagare importo_da_pagare totale_dovuto saldo_da_pagare residuo_da_pagare",
    rounded="arrotondato",
    net="imponibile netto totale_imponibile importo_netto",
    subtotal="subtotale",
    tax="iva imposta imposte totale_iva",
    sums="importo",
    including="compresa inclusa di_cui",
    excluding="esclusa senza",
    paid="contanti contante bancomat pagato pagamento_contante",
    change="resto",
    no_sum="quantità qtà prezzo_unitario tasso_di_cambio",
    tax_base="su",
    exempt="esente esenzione inversione_contabile non_imponibile fuori_campo non_soggett* escluso_art esclusa_art "
    "reverse_charge",
    early_payment="sconto_pagamento_anticipato sconto_cassa pagamento_anticipato",
    untaxed="imposta_di_soggiorno tassa_di_soggiorno marca_da_bollo imposta_di_bollo bollo anticipazioni esente "
    "fuori_campo",
    tip="mancia",
    service_charge="coperto servizio",
    shipping="spese_di_spedizione spese_di_trasporto trasporto",
    withholding="ritenuta ritenuta_d'acconto ritenuta_acconto",
    discount="sconto* abbuono",
    prepaid="acconto acconti già_pagato già_versato caparra anticipo",
    brought_forward="saldo_precedente",
    rounding="arrotondamento",
    due="scadenza data_scadenza pagare_entro da_pagare_entro pagamento_entro scadenza_pagamento data_di_scadenza "
    "da_pagare_entro_il pagare_entro_il pagamento_entro_il entro_il da_saldare_entro data_addebito addebito_il "
    "scadenze data_di_addebito sarà_addebitato_il",
    dated="data data_fattura data_di_emissione emessa_il data_documento",
    supply="data_di_consegna data_consegna consegnato_il consegna consegna_del data_prestazione "
    "data_della_prestazione data_di_fornitura data_fornitura data_di_esecuzione data_spedizione spedito_il "
    "periodo_di_fatturazione periodo_fatturazione periodo_di_riferimento periodo_di_competenza periodo competenza "
    "periodo_fatturato data_operazione",
    discount_until="sconto_se_pagato_entro sconto_per_pagamento_entro se_pagato_entro se_pagato_entro_il "
    "per_pagamento_entro_il sconto_cassa sconto_entro sconto_fino_al",
    another_day="data_ordine ordine_del ordinato_il data_di_stampa stampato_il stampa data_di_nascita nato_il "
    "nata_il data_di_scadenza_carta scadenza_carta valido_fino_al valida_fino_al valido_dal validità "
    "da_consumarsi_entro pagato pagata pagato_il pagata_il pagato_con saldato_il incassato_il pagamento_ricevuto "
    "pagamento_del ricevuto_il addebitato_il addebitato prossima_fattura prossima_bolletta prossimo_pagamento "
    "prossima_lettura prossimo_addebito saldo_al saldo aggiornato_al lettura lettura_del data_lettura data_contratto "
    "data_del_contratto contratto_del inizio fine data_inizio data_fine data_preventivo arrivo partenza cliente_dal "
    "ultimo_pagamento ultima_fattura versato_il versata_il",
    bill="fattura ricevuta scontrino",
    bill_number="documento",
    order="ordine",
    your_order="vs_ordine vs._ordine v/ordine vostro_ordine ordine_d'acquisto vs_rif. vostro_riferimento rif_ordine "
    "ordine_cliente",
    another_bill="fattura_collegata fattura_di_riferimento rif_fattura fattura_originale fattura_proforma "
    "fattura_pro_forma fattura_precedente a_storno_fattura storno_fattura relativa_alla_fattura su_fattura "
    "a_rettifica_della_fattura annulla_fattura",
    another_number="cliente contratto contatore preventivo offerta ddt d.d.t. bolla progetto commessa pratica conto "
    "polizza socio fornitore partita_iva p.iva p._iva codice_fiscale c.f. rea codice_cliente pod pdr serie mandato "
    "nostro_ordine tel. camera",
    number="numero",
    reference="causale causale_di_pagamento causale_bonifico causale_del_bonifico riferimento_pagamento "
    "riferimento_di_pagamento codice_avviso codice_di_pagamento iuv rif._pagamento riferimento_qr "
    "comunicazione_di_pagamento",
    seller="fornitore venditore cedente mittente emittente cedente/prestatore prestatore",
    buyer="spett.le spettabile acquirente cessionario intestatario destinatario cliente committente "
    "cessionario/committente destinazione fatturare_a",
    by="da",
    currency="valuta divisa importi_in",
    credit="nota_di_credito nota_credito nota_di_accredito",
    tax_number="partita_iva p.iva p._iva part._iva cod._fisc. codice_fiscale c.f. cf piva",
    your="vostro vostra vs. suo sua",
    representative="rappresentante_fiscale",
    other_number="matricola numero_di_serie n._serie numero_seriale",
    debit="addebito addebitato addebitata addebiteremo addebito_diretto domiciliazione vostro_conto suo_conto "
    "vs._conto mandato sdd rid",
    transfer="bonifico nostro_conto versamento",
    deposit="acconto acconti fattura_di_acconto anticipo caparra già_pagato già_versato già_fatturato",
    carried="riporto a_riportare",
)

PORTUGUESE = BillWords(
    total="valor_total total_geral total_da_fatura total_da_nota",
    gross="total_com_iva valor_bruto",
    to_pay="total_a_pagar valor_a_pagar a_pagar valor_em_dívida saldo_devedor em_dívida",
    rounded="arredondado",
    net="valor_líquido total_líquido total_ilíquido incidência base_tributável base_de_cálculo",
    subtotal="subtotal",
    tax="iva icms imposto impostos total_iva",
    sums="valor montante",
    including="incluído com",
    excluding="sem",
    paid="dinheiro numerário multibanco cartão pago valor_recebido",
    change="troco",
    no_sum="quantidade qtd preço_unitário taxa_de_câmbio",
    exempt="isento isenta autoliquidação iva_autoliquidação não_sujeito",
    early_payment="pronto_pagamento desconto_pronto_pagamento",
    untaxed="taxa_turística imposto_do_selo isento",
    tip="gorjeta",
    shipping="portes frete portes_de_envio",
    withholding="retenção retenção_na_fonte irs ret_irs retenção_irs",
    discount="desconto*",
    prepaid="sinal adiantamento já_pago pago_anteriormente",
    brought_forward="saldo_anterior",
    due="vencimento data_de_vencimento pagar_até vence_em data_limite_de_pagamento pagamento_até pagar_até_ao "
    "data_limite data_de_débito a_pagar_até débito_em será_debitado_em pagável_até",
    dated="data data_da_fatura data_de_emissão emitida_em emissão",
    supply="data_de_entrega entregue_em entrega data_de_saída data_da_saída data_saída data_saída/entrada "
    "data_da_prestação data_do_serviço data_de_fornecimento data_da_operação data_de_expedição expedido_em "
    "data_de_envio período_de_faturação período_de_faturamento período_faturado período período_de_referência "
    "período_de_consumo competência data_carga",
    discount_until="desconto_até desconto_para_pagamento_até desconto_se_pago_até se_pago_até para_pagamento_até "
    "desconto_de_pronto_pagamento pronto_pagamento",
    another_day="data_do_pedido data_da_encomenda encomendado_em data_de_impressão impresso_em impresso "
    "data_de_nascimento nascido_em data_de_validade validade válido_até válida_até válido_desde expira_em "
    "consumir_até pago paga pago_em paga_em liquidado_em pagamento_recebido pagamento_recebido_em recebido_em "
    "debitado_em debitado cobrado_em próxima_fatura próximo_pagamento próxima_leitura próximo_débito saldo_em "
    "saldo_a saldo leitura data_da_leitura leitura_de data_do_contrato data_de_contrato contrato_de início fim "
    "data_de_início data_de_fim data_do_orçamento chegada partida cliente_desde último_pagamento última_fatura "
    "protocolo_de_autorização mb_way",
    bill="fatura nota_fiscal recibo",
    bill_number="danfe documento",
    order="encomenda pedido",
    your_order="v/_encomenda vossa_encomenda sua_encomenda seu_pedido ordem_de_compra vossa_referência v/_referência",
    another_bill="fatura_original fatura_de_referência fatura_de_origem ref_fatura fatura_proforma fatura_pró_forma "
    "fatura_anterior sobre_fatura anula_a_fatura fatura_retificada fatura_anulada nota_fiscal_referenciada "
    "referente_à_fatura relativa_à_fatura referente_a_fatura",
    another_number="cliente contrato contador orçamento guia_de_remessa guia projeto processo conta apólice sócio "
    "fornecedor nif nipc cnpj cpf inscrição_estadual série cpe mandato nossa_encomenda tel. telefone duplicata "
    "protocolo chave_de_acesso",
    number="número n.º nº",
    reference="referência_de_pagamento referência_para_pagamento referência_do_pagamento referência_multibanco "
    "ref._multibanco ref._pagamento descritivo identificação_do_pagamento nosso_número linha_digitável",
    seller="fornecedor prestador emitente vendedor vendido_por",
    buyer="adquirente tomador destinatário cliente comprador exmo.(s)_sr.(s) exmo._sr. exmos_senhores sacado pagador",
    to="para",
    currency="moeda valores_em",
    credit="nota_de_crédito nota_crédito",
    tax_number="nif nipc cnpj cpf contribuinte n.º_contribuinte inscrição_estadual",
    your="seu sua vosso vossa",
    representative="representante_fiscal",
    other_number="número_de_série n.º_de_série n°_de_série",
    debit="débito_direto débito_directo débito_automático sua_conta vossa_conta será_debitado será_debitada "
    "mandato autorização_de_débito",
    transfer="transferência nossa_conta",
    deposit="adiantamento* sinal fatura_de_adiantamento já_pago já_faturado pagamento_antecipado",
    carried="transporte a_transportar",
)
