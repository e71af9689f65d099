"""Parts of a page: parties, pairs of words and values, tables, sums, running text, heads and feet."""
