"""Families of models, as their folders tell them apart: what each one's folder holds, and which are served."""
