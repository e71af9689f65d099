"""The process that tells CloudWatch how the task is: measures, keeps what could not be sent, sends."""
