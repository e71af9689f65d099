"""What entities mean: texts read to typed values, with what their document says of its language, country and dates."""
