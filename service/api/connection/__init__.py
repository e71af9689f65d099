"""What lies between the socket and the application: limits on connections, heads and bodies, and overload control."""
