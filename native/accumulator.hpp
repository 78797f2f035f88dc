// One worker's part of an update: keys are folded, gathered into blocks and handed to the kernel.
//
// The kernel takes weights below 2^23. A larger one is cut into pieces of 23 bits, w = sum over l of w_l 2^(23 l), and
// each piece goes to the sum of its level; `finish` adds the shifted levels into one. Everything stays exact.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "buckets.hpp"
#include "entries.hpp"
#include "fold.hpp"
#include "kernel.hpp"

namespace stablesketch {

class Accumulator {
  public:
    // `rows` is the expected number of keys; it only decides the size of buffers. kernel.hpp lists the tiers. With more
    // than one of `buckets`, each with an even number of entries, it may share intermediate sums with the accumulator
    // `beside` it. `folded` says that hardly any key occurs twice, so that a small fold is enough.
    Accumulator(const EntryLaw& law, std::uint32_t size, const std::uint8_t (&key)[16], std::uint32_t domain,
                std::size_t rows, const Tier& tier, std::uint32_t buckets = 1, const Accumulator* beside = nullptr,
                bool folded = false);

    struct Added {
        std::int64_t high = 0, low = 0;  // the sum of the weights is high * 2^32 + low, which cannot overflow
        std::int64_t outside = -1;       // the first row whose weight is not in 1..highest
    };
    // Adds sign * weight * X for n fingerprints; if `weights` is null, they are 1 each. With a `highest`, weights are
    // compared with it as they are read: if one is outside, the accumulator is left unfinished and must not be used.
    Added add(const std::uint64_t* fingerprints, const std::int64_t* weights, std::size_t n, std::int64_t sign,
              std::int64_t highest = 0);

    // Adds everything in these accumulators to entries of the same law, size and buckets, and empties them.
    // Each finishes a part of the folds, and of the buckets, in its own thread.
    static void finish(const std::vector<Accumulator*>& together, Entries& entries);

    const EntryLaw& law() const { return table_->law; }
    std::uint32_t size() const { return size_; }
    std::uint32_t buckets() const { return buckets_; }

  private:
    struct Level {
        std::array<std::uint64_t, block_keys> fingerprint;
        std::array<std::int64_t, block_keys> weight;
        std::size_t filled = 0;
        std::size_t since_settled = 0;
        std::vector<std::int64_t> sums;
    };
    static constexpr int level_bits = 23, levels = 3;

    static void drain_part(const std::vector<Accumulator*>& together, std::size_t i);
    void push(std::uint64_t fingerprint, std::int64_t weight);
    void push_all(const std::uint64_t* fingerprints, const std::int64_t* weights, std::size_t n, std::int64_t sign);
    std::vector<std::int64_t> total();
    void push_heavy(std::uint64_t fingerprint, std::int64_t weight);
    void put(Level& level, std::uint64_t fingerprint, std::int64_t weight);
    void run(Level& level);
    void settle_all(Level& level) const;

    std::shared_ptr<const StableTable> table_;
    TableView view_;
    Aes128 key_;
    std::uint32_t domain_, size_, buckets_, pairs_;  // pairs of entries that a key adds to
    int digits_;
    Tier tier_;
    Fold fold_;
    FoldWatch watch_;
    std::unique_ptr<Evicted> evicted_;
    std::unique_ptr<BucketStage> stage_;  // if there is more than one bucket
    std::array<Level, levels> level_;
};

}  // namespace stablesketch
