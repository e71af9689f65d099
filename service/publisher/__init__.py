"""The publisher process: measures a service every period and sends the points to CloudWatch."""
