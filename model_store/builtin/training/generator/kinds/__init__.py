"""One kind of document a file: contracts, forms, invoices, letters, receipts, résumés."""
