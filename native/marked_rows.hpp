// The rows of a table for the vector tiers, if its law continues a small t on both sides: where t is too coarse, they
// hold a number beyond all windows.
//
// A small t asks for more bits (variate.hpp). On the upper side X is then large, and the vector tiers find it among the
// X that they add one by one. On the lower side X would be small, or negative; the mark makes it large for them, too,
// so that they need not look at the bits of every X. What is added comes from the true rows.
#pragma once

#include <vector>

#include "stable_table.hpp"
#include "variate.hpp"

namespace stablesketch {

inline std::vector<Row> marked_rows(const StableTable& table) {
    std::vector<Row> marked = table.rows;
    const auto coarse_octaves = std::size_t(continued(table.law).below + 1);  // t = 2m + 1, in units of 2^-63
    for (std::size_t row = 0; row < coarse_octaves << table.bin_bits; ++row)
        marked[table.rows_per_side() + row] = Row{{0x1p1000}};
    return marked;
}

}  // namespace stablesketch
