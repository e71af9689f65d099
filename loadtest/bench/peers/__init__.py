"""The service beside other servers, with the same weights, documents, client and machine."""
