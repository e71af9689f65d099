"""How a service drains, which workers it has heard of, and how often an engine may restart."""
