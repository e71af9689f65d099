"""A fleet by the second: its tasks, its instances, what they publish, and who decides how many there are."""
