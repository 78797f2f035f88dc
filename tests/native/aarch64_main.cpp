// The compiled core without Python, for machines that can only be emulated here; test_aarch64.py builds and runs it.
//
//     aarch64_main law p size key(32 hexadecimal digits) domain rows(expected) buckets < steps > answer
//
// Input: steps of int64 sign, uint64 n, n fingerprints, n weights (int64). Output: int32 bin_bits, resolution and shift,
// the rows of the table as doubles, then the settled entries as 32-bit digits. All in the order of the machine's bytes.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "accumulator.hpp"
#include "entries.hpp"
#include "kernel.hpp"

using namespace stablesketch;

namespace {

template <class T>
bool read(T* to, std::size_t n) {
    return std::fread(to, sizeof(T), n, stdin) == n;
}
template <class T>
void write(const T* from, std::size_t n) {
    if (std::fwrite(from, sizeof(T), n, stdout) != n) std::abort();
}

}  // namespace

int main(int count, char** words) {
    if (count != 8 || std::strlen(words[4]) != 32) return 2;
    const LawKind kind = std::strcmp(words[1], "symmetric") == 0   ? LawKind::symmetric
                         : std::strcmp(words[1], "one-sided") == 0 ? LawKind::one_sided
                                                                   : LawKind::entropy;
    const EntryLaw law{kind, std::strtod(words[2], nullptr)};
    const auto size = static_cast<std::uint32_t>(std::strtoul(words[3], nullptr, 10));
    std::uint8_t key[16];
    for (int i = 0; i < 16; ++i) {
        const char digits[3] = {words[4][2 * i], words[4][2 * i + 1], 0};
        key[i] = static_cast<std::uint8_t>(std::strtoul(digits, nullptr, 16));
    }
    const auto domain = static_cast<std::uint32_t>(std::strtoul(words[5], nullptr, 10));
    const auto rows = static_cast<std::size_t>(std::strtoull(words[6], nullptr, 10));
    const auto buckets = static_cast<std::uint32_t>(std::strtoul(words[7], nullptr, 10));

    const Tier& tier = tiers().front();
    std::fprintf(stderr, "%s\n", tier.name.c_str());
    Accumulator accumulator(law, size, key, domain, rows, tier, buckets);
    std::int64_t sign = 0;
    while (read(&sign, 1)) {
        std::uint64_t n = 0;
        if (!read(&n, 1)) return 3;
        std::vector<std::uint64_t> fingerprints(n);
        std::vector<std::int64_t> weights(n);
        if (!read(fingerprints.data(), n) || !read(weights.data(), n)) return 3;
        accumulator.add(fingerprints.data(), weights.data(), n, sign);
    }
    Entries entries(law, size, buckets);
    Accumulator::finish({&accumulator}, entries);

    const StableTable& table = entries.table();
    const std::int32_t numbers[3] = {table.bin_bits, table.resolution, table.shift};
    const auto state = entries.state();
    write(numbers, 3);
    write(table.rows.data(), table.rows.size());
    write(table.deep.data(), table.deep.size());
    write(state.data(), state.size());
    return 0;
}
