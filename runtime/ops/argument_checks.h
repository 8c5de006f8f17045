// Checks of arguments, with one message for each kind of mistake. Each throws ArgumentError with the argument's name.
#pragma once

#include <string>

#include "runtime/lua/failure.h"
#include "runtime/tensor/lists.h"
#include "runtime/tensor/tensor.h"

namespace mr::check {

void floating(const char* name, const Tensor& x);
/// Throws unless every entry of x, rounded towards zero, fits into int64.
void fits_int64(const char* name, const Tensor& x);
void type(const char* name, const Tensor& x, Dtype expected);
/// Throws unless x is floating and has one entry per row: "scores has 12 entries but lists have 10 rows".
void per_row(const char* name, const Tensor& x, const Lists& lists);
/// Throws unless x is floating and has one entry per list.
void per_list(const char* name, const Tensor& x, const Lists& lists);
void same_shape(const char* name, const Tensor& x, const char* other_name, const Tensor& other);
/// Throws unless both tensors have the same type and device. The message suggests :double(), :float() or :to().
void same_kind(const char* name, const Tensor& x, const char* other_name, const Tensor& other);
/// Throws if x has a NaN; the message has its position. Waits for the GPU, except while a tally is open (ops/tally.h):
/// then a NaN is reported when the tally is read.
void not_nan(const char* operation, const char* name, const Tensor& x);
void positive(const char* name, double value);
void finite(const char* name, double value);
/// Throws unless x has integers from 1 to n.
void index(const char* name, const Tensor& x, int64_t n);
/// Throws unless the list argument `name` has `expected` values. `found` is the number of its values, and `each` names
/// what each value belongs to, such as "tensor".
void as_many(const char* name, size_t found, const char* each, size_t expected);
/// Checks a dimension that is counted from 1; returns it counted from 0.
int dimension(const char* name, const Tensor& x, int64_t dim);

}  // namespace mr::check
