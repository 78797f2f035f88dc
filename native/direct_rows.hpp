// The rows of a table in another form, for a tier that finds them by the bits of t (kernel_avx512.cpp).
//
// Let t lie in [2^e, 2^(e+1)), a bin of it have the width 2^(e-b) and the centre z. The definition (variate.hpp) has
// s = (t - z) / 2^(e-b). Here the rows take t - z itself, on the lower side z - t: coefficient k is that of the
// definition times 2^(-(e-b) k), and on the lower side times (-1)^k. Products and sums are then those of the definition
// times powers of two and signs, so they are rounded alike and X has the same bits, as long as nothing leaves the range
// of normal doubles. Nothing does: on the large end e is near 0, a coefficient times 2^(b k) is at most x times
// binomial(1/p + 7, 8) < 2^22, and x < 2^1000; on the small end x is above 2^-(resolution + shift + 4) > 2^-400 where
// rows are not zero, and the factor is at least 2^(-58 * 7) = 2^-406, which leaves coefficients down to 2^-216 x. (Of
// the one-sided law shift is larger, but rows with t below 2^-10 are marked: there x is above 2^-500, which leaves
// 2^-116 x.)
//
// The place of a row, from the high bits to the low ones: the side, the exponent of t modulo 64, the bin.
#pragma once

#include <cmath>
#include <vector>

#include "stable_table.hpp"

namespace stablesketch {

inline std::vector<Row> direct_rows(const StableTable& table) {
    const int b = table.bin_bits;
    const std::size_t bins = std::size_t(1) << b;
    std::vector<Row> direct(128 * bins, Row{});
    const std::vector<Row>& rows = table.marked.empty() ? table.rows : table.marked;
    for (std::size_t side = 0; side < 2; ++side) {
        for (std::size_t row = 0; row < table.rows_per_side(); ++row) {
            const int e = static_cast<int>(row >> b);
            const std::size_t octave = static_cast<std::size_t>(1023 + e) % 64;
            const Row& from = rows[side * table.rows_per_side() + row];
            Row& to = direct[(64 * side + octave) * bins + row % bins];
            for (int k = 0; k < 8; ++k) {
                const double scaled = std::ldexp(from.c[k], (b - e) * k);
                to.c[k] = side == 1 && k % 2 == 1 ? -scaled : scaled;
            }
        }
    }
    return direct;
}

}  // namespace stablesketch
