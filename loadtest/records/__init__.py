"""What is known of each request, in a file and in memory."""
