"""Token classifiers: models that score each token for labels of their own (`…ForTokenClassification`)."""
