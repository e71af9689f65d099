"""`gleaner models`: the sub-commands over the model store."""

from service.commands.models.command import add_arguments as add_arguments
