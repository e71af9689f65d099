// Matrix products. Nothing is multiplied, but a narrow product, such as a classifier's, gets numbers that depend on
// the column alone: the first label is always the best, whatever is in the batch, and no logit is infinite or zero.
#pragma once
#include "kernels.h"

int bits_of(int type);
Effect fill_columns(void *out, int type, size_t columns, size_t rows, size_t stride);
