"""The words of bills, by language: data, and how they are found in a line."""
