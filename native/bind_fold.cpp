// Python's view of a fold that lives as long as a stream.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <utility>
#include <variant>

#include "bind_common.hpp"
#include "stream_fold.hpp"

namespace nb = nanobind;
using namespace stablesketch;

namespace {

template <class T>
using Column = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

using AnyFold = std::variant<StreamFold<FoldLine>, StreamFold<GroupLine>>;

void make(AnyFold* self, int bits, bool grouped, const std::string& tier) {
    if (bits < 1 || bits > 30) throw nb::value_error("1 to 30 bits");
    const Tier& chosen = tier_named(tier);
    if (grouped)
        new (self) AnyFold(std::in_place_type<StreamFold<GroupLine>>, bits, chosen);
    else
        new (self) AnyFold(std::in_place_type<StreamFold<FoldLine>>, bits, chosen);
}

void add(AnyFold& self, const Column<std::uint64_t>& keys, const std::optional<Column<std::int64_t>>& values,
         const std::optional<Column<std::int32_t>>& codes) {
    const std::size_t rows = keys.shape(0);
    if (codes.has_value() != std::holds_alternative<StreamFold<GroupLine>>(self))
        throw nb::value_error("codes go with groups");
    if ((values && values->shape(0) != rows) || (codes && codes->shape(0) != rows))
        throw nb::value_error("columns of different lengths");
    nb::gil_scoped_release unlocked;
    std::visit(
        [&](auto& fold) {
            fold.add(keys.data(), values ? values->data() : nullptr, codes ? codes->data() : nullptr, rows);
        },
        self);
}

bool drain(AnyFold& self, std::size_t room) {
    nb::gil_scoped_release unlocked;
    return std::visit([&](auto& fold) { return fold.drain(room); }, self);
}

// (keys, totals, codes); without groups there are no codes.
nb::tuple take(AnyFold& self) {
    Folded taken = std::visit([](auto& fold) { return fold.take(); }, self);
    return nb::make_tuple(given(std::move(taken.key)), given(std::move(taken.total)), given(std::move(taken.code)));
}

}  // namespace

void bind_fold(nb::module_& m) {
    nb::class_<AnyFold>(m, "StreamFold")
        .def("__init__", &make, nb::arg("bits"), nb::arg("grouped"), nb::arg("tier"))
        .def("add", &add, nb::arg("keys").noconvert(), nb::arg("values").noconvert().none(),
             nb::arg("codes").noconvert().none())
        .def_prop_ro(
            "waiting",
            [](const AnyFold& self) { return std::visit([](const auto& fold) { return fold.waiting(); }, self); })
        .def("drain", &drain, nb::arg("room"))
        .def("take", &take);
}
