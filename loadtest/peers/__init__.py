"""The same weights and the same documents on other people's software, each in a process of its own."""
