// Python's view of the fields of JSON lines, and of time texts.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <limits>

#include "bind_common.hpp"
#include "json_lines.hpp"
#include "time_texts.hpp"

namespace nb = nanobind;
using namespace stablesketch;

namespace {

// `lines` is UTF-8. As Python bytes it ends in a zero byte, where all loops stop.
nb::tuple json_texts(const nb::bytes& lines, std::size_t fields,
                     const std::vector<std::pair<std::size_t, std::vector<std::string>>>& given_ways) {
    if (lines.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()) || given_ways.size() > 64)
        throw nb::value_error("too much at once");
    std::vector<Way> ways;
    for (const auto& [field, names] : given_ways) {
        if (field >= fields || names.empty()) throw nb::value_error("a way leads nowhere");
        ways.push_back({field, names});
    }
    JsonFields found;
    {
        nb::gil_scoped_release unlocked;
        found = json_fields(lines.c_str(), lines.c_str() + lines.size(), ways, fields);
    }
    nb::list columns;
    for (Texts& texts : found.fields)
        columns.append(
            nb::make_tuple(given(std::move(texts.known)), given(std::move(texts.ends)), given(std::move(texts.bytes))));
    return nb::make_tuple(columns, found.lines, given(std::move(found.other_numbers)), given(std::move(found.others)));
}

using Ends = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// The seconds of a column of texts; text i is bytes[ends[i]] to bytes[ends[i + 1]].
nb::object seconds(const Ends& ends, const Bytes& bytes, std::int64_t per_second) {
    const std::size_t rows = ends.shape(0) == 0 ? 0 : ends.shape(0) - 1;
    if (per_second < 1) throw nb::value_error("no such unit");
    std::vector<std::int64_t> found(rows);
    {
        nb::gil_scoped_release unlocked;
        const auto* text = reinterpret_cast<const char*>(bytes.data());
        const auto size = static_cast<std::int64_t>(bytes.shape(0));
        for (std::size_t i = 0; i < rows; ++i) {
            const std::int64_t begin = ends.data()[i], end = ends.data()[i + 1];
            if (begin < 0 || begin > end || end > size) throw nb::value_error("a text leads out of its bytes");
            found[i] = second_of({text + begin, static_cast<std::size_t>(end - begin)}, per_second);
        }
    }
    return given(std::move(found));
}

}  // namespace

void bind_lines(nb::module_& m) {
    m.def("json_texts", &json_texts, nb::arg("lines"), nb::arg("fields"), nb::arg("ways"));
    m.attr("NO_SECOND") = no_second;
    m.def("seconds", &seconds, nb::arg("ends"), nb::arg("bytes"), nb::arg("per_second"));
}
