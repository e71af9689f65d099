"""How a service drains, whom it has heard of lately, when a device hangs, and how often a process may restart."""
