"""The service and other servers, with the same weights, documents, client and machine."""
