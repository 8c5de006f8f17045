// Checks of arguments, one wording per mistake. Each throws ArgumentError with the argument's name.
#pragma once

#include <string>

#include "runtime/lua/failure.h"
#include "runtime/tensor/lists.h"
#include "runtime/tensor/tensor.h"

namespace mr::check {

/// float32 or float64.
void floating(const char* name, const Tensor& x);
/// Numbers that int64 holds after truncation.
void fits_int64(const char* name, const Tensor& x);
void type(const char* name, const Tensor& x, Dtype expected);
/// One entry per row of the lists, floating; "scores has 12 entries but lists have 10 rows".
void per_row(const char* name, const Tensor& x, const Lists& lists);
/// One entry per list, floating.
void per_list(const char* name, const Tensor& x, const Lists& lists);
void same_shape(const char* name, const Tensor& x, const char* other_name, const Tensor& other);
/// Same type and same device; the message names both, and :double() / :float() or :to().
void same_kind(const char* name, const Tensor& x, const char* other_name, const Tensor& other);
/// No NaN; names the first such entry. Waits for the GPU, except while a tally is open (ops/tally.h): then it is
/// reported when the tally is read, with the operation.
void not_nan(const char* operation, const char* name, const Tensor& x);
void positive(const char* name, double value);
void finite(const char* name, double value);
/// Integers from 1 to n.
void index(const char* name, const Tensor& x, int64_t n);
/// A dimension of x counted from 1; returns it counted from 0.
int dimension(const char* name, const Tensor& x, int64_t dim);

}  // namespace mr::check
