"""Recipes: bulk work by other engines, each a program of few lines; README.md of the folder above has the table."""
