"""One protocol a file, and what it alone needs beside it."""
