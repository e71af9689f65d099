"""The stacks in AWS CDK: a base (network, image repository, model bucket) and one of two fleets on it."""
