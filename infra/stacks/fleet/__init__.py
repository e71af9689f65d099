"""The fleet stack: GPU machines, tasks or instances, load balancer, scaling."""
