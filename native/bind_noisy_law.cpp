// Python's view of a law with Laplace noise (sketch/estimators/noisy_interval.py).
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>

#include "bind_common.hpp"
#include "noisy_law.hpp"

namespace nb = nanobind;
using namespace stablesketch;

namespace {

using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// The function at each of the numbers.
template <class Function>
nb::object each_of(const Numbers& numbers, Function function) {
    std::vector<double> found(numbers.shape(0));
    std::transform(numbers.data(), numbers.data() + numbers.shape(0), found.begin(), function);
    return given(std::move(found));
}

NoisyLaw noisy_law(const Numbers& ends, const Numbers& masses, double released, double noise) {
    if (ends.shape(0) != masses.shape(0) + 1) throw nb::value_error("a law has one more end than pieces");
    return {ends.data(), masses.data(), masses.shape(0), released, noise};
}

}  // namespace

void bind_noisy_law(nb::module_& m) {
    m.def("noisy_below",
          [](const Numbers& ends, const Numbers& masses, double released, double noise, const Numbers& values) {
              const NoisyLaw law = noisy_law(ends, masses, released, noise);
              return each_of(values, [&law](double value) { return law.below(value); });
          });
    m.def("noisy_solved", [](const Numbers& ends, const Numbers& masses, double released, double noise,
                             const Numbers& targets, double low, double high) {
        const NoisyLaw law = noisy_law(ends, masses, released, noise);
        return each_of(targets, [&](double target) { return law.solved(target, low, high); });
    });
}
