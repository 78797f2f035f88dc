// Python's view of logarithms and exponentials with proved errors (numbers/elementary.py).
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "bind_common.hpp"
#include "elementary.hpp"

namespace nb = nanobind;
using namespace stablesketch;

namespace {

using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// ln(x 2^e) of each x and its e.
nb::object logs(const Numbers& numbers, const Numbers& exponents) {
    const std::size_t count = numbers.shape(0);
    if (exponents.shape(0) != count) throw nb::value_error("every number has one exponent");
    std::vector<double> found(count);
    const double *x = numbers.data(), *e = exponents.data();
    for (std::size_t i = 0; i < count; ++i) found[i] = log_of(x[i], e[i]);
    return given(std::move(found));
}

nb::object exps(const Numbers& numbers) {
    const std::size_t count = numbers.shape(0);
    std::vector<double> found(count);
    const double* x = numbers.data();
    for (std::size_t i = 0; i < count; ++i) found[i] = exp_of(x[i]);
    return given(std::move(found));
}

// Of each row the largest x, and the sum of e^{x - top}.
nb::tuple exp_sums(const Rows& rows) {
    const std::size_t count = rows.shape(0), each = rows.shape(1);
    if (each == 0) throw nb::value_error("a row has at least one number");
    std::vector<double> tops(count), sums(count);
    for (std::size_t i = 0; i < count; ++i) {
        const ExpSum found = exp_sum(rows.data() + i * each, each);
        tops[i] = found.top;
        sums[i] = found.sum;
    }
    return nb::make_tuple(given(std::move(tops)), given(std::move(sums)));
}

}  // namespace

void bind_elementary(nb::module_& m) {
    m.def("logs", &logs, nb::arg("numbers"), nb::arg("exponents"));
    m.def("exps", &exps, nb::arg("numbers"));
    m.def("exp_sums", &exp_sums, nb::arg("rows"));
}
