"""HTTP connections: limits on connections, heads and bodies, and admission before a body is read."""
