/* cuda::std::complex of libcu++ is the host's own: clang compiles std::complex for GPUs, too, and objects of g++ and of clang
 * call its functions by the same name. Made by rocsmith; the rest of libcu++ is not here.
 */
#pragma once

#include <complex>

namespace cuda {
namespace std {
using ::std::abs;
using ::std::acos;
using ::std::acosh;
using ::std::arg;
using ::std::asin;
using ::std::asinh;
using ::std::atan;
using ::std::atanh;
using ::std::complex;
using ::std::conj;
using ::std::cos;
using ::std::cosh;
using ::std::exp;
using ::std::imag;
using ::std::log;
using ::std::log10;
using ::std::norm;
using ::std::polar;
using ::std::pow;
using ::std::proj;
using ::std::real;
using ::std::sin;
using ::std::sinh;
using ::std::sqrt;
using ::std::tan;
using ::std::tanh;
} // namespace std
} // namespace cuda
