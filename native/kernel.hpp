// The inner loop of an update: a block of keys times all entries. One function a tier, all with the same result.
//
// A tier may compute in any order and by any instructions: X is defined to the bit (variate.hpp) and sums are integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "aes.hpp"
#include "fold.hpp"
#include "registers.hpp"
#include "stable_table.hpp"
#include "weight_sum.hpp"

namespace stablesketch {

inline constexpr std::size_t block_keys = 256;
// Weights below this let a block's products be summed in 64 bits: 256 keys * 2^23 * 2^31 = 2^62.
inline constexpr std::int64_t block_weight_limit = std::int64_t(1) << 23;

// What a tier needs of a table, without owning it. (A tier must not share inline functions with the rest of the
// program: the linker might use its copies, compiled for special instructions, everywhere.)
struct TableView {
    const Row* rows;
    std::size_t rows_per_side;
    int bin_bits, resolution, shift;
    double fine_from = 0.0;        // every X that asks for more bits is above this, as the rows hold it
    std::uint64_t sign_bit = 0;    // the bit that is the sign of X, if one is
    std::uint64_t coarse = 0;      // bits that ask for more if none of these is set (variate.hpp)
    bool wide = false;             // whether a window of three limbs pays (kernel_outliers.hpp)
    double tail = 1.0;             // P(|X| > x) falls like x^-tail
    const Row* marked = nullptr;   // marked_rows.hpp, or the rows
    const Row* direct = nullptr;   // direct_rows.hpp
    const Row* deep = nullptr;     // the octaves of t below 2^-63, if there are any
    int deep_octaves[2] = {0, 0};  // how many on each side
};
TableView view_of(const StableTable& table);

struct KernelJob {
    TableView table;
    const Aes128* key;
    std::uint32_t domain;
    std::uint32_t pairs;  // pairs of entries: an odd size is rounded up, and the last entry ignored
    int digits;
    std::int64_t* sums;  // 2 * pairs entries of `digits` digits each
};

// sums += weight * X for n <= block_keys fingerprints, |weight| < block_weight_limit.
using AddBlock = void (*)(const KernelJob&, const std::uint64_t* fingerprints, const std::int64_t* weights,
                          std::size_t n);

struct Tier {
    std::string name;
    AddBlock add_block;
    FoldAdd fold_add;
    Encrypt encrypt;
    SumWeights sum_weights;
};

// The tiers this machine can run, best first; "plain" is always the last.
const std::vector<Tier>& tiers();
// sums += weight * X for one entry that needs `more` bits (variate.hpp). The fingerprint is for the one in 2^62 that
// needs still more.
void add_fine_variate(const KernelJob&, std::uint64_t fingerprint, std::uint32_t entry, std::uint64_t bits,
                      std::uint64_t more, std::int64_t weight);
void add_block_plain(const KernelJob&, const std::uint64_t*, const std::int64_t*, std::size_t);
#if defined(__x86_64__)
void add_block_avx2(const KernelJob&, const std::uint64_t*, const std::int64_t*, std::size_t);
void add_block_avx512(const KernelJob&, const std::uint64_t*, const std::int64_t*, std::size_t);
#endif

}  // namespace stablesketch
