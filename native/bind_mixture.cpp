// Python's view of a mixture of beliefs (mechanism/shared/belief.py).
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>

#include "bind_common.hpp"
#include "mixture.hpp"

namespace nb = nanobind;
using namespace stablesketch;

namespace {

using Column = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Kinds = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Mixture mixture_of(const Rows& values, const Rows& scores, const Kinds& kind, const Column& weights,
                   const Column& probability, double reach) {
    const std::size_t rows = values.shape(0), nodes = values.shape(1);
    const bool alike = kind.shape(0) == rows && weights.shape(0) == rows && scores.shape(1) == nodes;
    if (!alike || nodes < 2 || probability.shape(0) < 2) throw nb::value_error("the rows of a mixture do not match");
    const auto kinds = static_cast<std::int64_t>(scores.shape(0));
    if (!std::all_of(kind.data(), kind.data() + rows, [kinds](std::int32_t k) { return 0 <= k && k < kinds; }))
        throw nb::value_error("a row of a mixture has no scores");
    return {values.data(),
            scores.data(),
            kind.data(),
            weights.data(),
            probability.data(),
            rows,
            nodes,
            probability.shape(0) - 1,
            reach};
}

nb::object mixture_below(const Rows& values, const Rows& scores, const Kinds& kind, const Column& weights,
                         const Column& probability, double reach, const Column& places) {
    const Mixture mixture = mixture_of(values, scores, kind, weights, probability, reach);
    std::vector<double> found(places.shape(0));
    std::transform(places.data(), places.data() + places.shape(0), found.begin(),
                   [&mixture](double v) { return mixture.below(v); });
    return given(std::move(found));
}

nb::tuple mixture_passed(const Rows& values, const Rows& scores, const Kinds& kind, const Column& weights,
                         const Column& probability, double reach, const Column& places, double target) {
    if (places.shape(0) < 2) throw nb::value_error("a mixture passes a target between two places");
    const Mixture mixture = mixture_of(values, scores, kind, weights, probability, reach);
    const Passed found = passed(mixture, places.data(), places.shape(0), target);
    return nb::make_tuple(found.low, found.at_low, found.at_next);
}

}  // namespace

void bind_mixture(nb::module_& m) {
    m.def("mixture_below", &mixture_below);
    m.def("mixture_passed", &mixture_passed);
}
