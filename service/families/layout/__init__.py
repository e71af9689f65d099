"""Models that see pages: token classifiers of LayoutLM, LiLT, BROS and LayoutLMv3."""
