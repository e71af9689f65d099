"""`gleaner evaluate`: scores a model on labelled documents."""

from service.commands.evaluate.command import add_arguments as add_arguments
