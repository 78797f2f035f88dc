// The plain tier: C++ and nothing else. It is what the other tiers must equal, and it runs everywhere.
#include "kernel.hpp"
#include "variate.hpp"

namespace stablesketch {

namespace {
struct Pair {
    std::uint64_t bits[2];
};
Pair encrypt(const KernelJob& job, std::uint64_t fingerprint, std::uint32_t pair, std::uint32_t domain) {
    std::uint32_t block[4] = {static_cast<std::uint32_t>(fingerprint), static_cast<std::uint32_t>(fingerprint >> 32),
                              pair, domain};
    job.key->encrypt(block);
    return {{block[0] | std::uint64_t(block[1]) << 32, block[2] | std::uint64_t(block[3]) << 32}};
}
}  // namespace

TableView view_of(const StableTable& table) {
    TableView view{table.rows.data(), table.rows_per_side(), table.bin_bits, table.resolution, table.shift};
    view.sign_bit = table.law.symmetric() ? std::uint64_t(1) << 63 : 0;
    view.coarse = coarse_bits(table.law);
    // X falls with t, to within the error of its polynomials.
    const std::uint64_t first_enough = std::uint64_t(1) << continued(table.law).below;
    view.fine_from = magnitude_of(view, 0, uniform_of(first_enough)) * (1.0 - 0x1p-30);
    view.tail = table.law.p;
    view.wide = view.tail >= 0.15 && view.tail <= 0.9;
    view.marked = table.marked.empty() ? view.rows : table.marked.data();
    view.direct = table.direct.data();
    view.deep = table.deep.empty() ? nullptr : table.deep.data();
    for (const std::size_t side : {0, 1}) view.deep_octaves[side] = deep_octaves(table.law).of(side);
    return view;
}

void add_fine_variate(const KernelJob& job, std::uint64_t fingerprint, std::uint32_t entry, std::uint64_t bits,
                      std::uint64_t more, std::int64_t weight) {
    const std::uint64_t last = asks_for_last(job.table, bits)
                                 ? encrypt(job, fingerprint, entry / 2, job.domain ^ last_continuation).bits[entry % 2]
                                 : 0;
    add_variate(job.sums + std::size_t(entry) * job.digits, job.table, bits,
                fine_magnitude_of(job.table, bits, more, last), weight);
}

void add_block_plain(const KernelJob& job, const std::uint64_t* fingerprints, const std::int64_t* weights,
                     std::size_t n) {
    for (std::uint32_t j = 0; j < job.pairs; ++j) {
        for (std::size_t i = 0; i < n; ++i) {
            const Pair pair = encrypt(job, fingerprints[i], j, job.domain);
            for (std::uint32_t half = 0; half < 2; ++half) {
                const std::uint64_t bits = pair.bits[half];
                if ((bits & job.table.coarse) == 0) [[unlikely]] {
                    const Pair more = encrypt(job, fingerprints[i], j, job.domain ^ continuation);
                    add_fine_variate(job, fingerprints[i], 2 * j + half, bits, more.bits[half], weights[i]);
                } else {
                    add_variate(job.sums + std::size_t(2 * j + half) * job.digits, job.table, bits,
                                magnitude_of(job.table, (bits >> 62) & 1, uniform_of(bits)), weights[i]);
                }
            }
        }
    }
}

}  // namespace stablesketch
