#include "accumulator.hpp"

namespace stablesketch {

namespace {
// Folding is watched a slice at a time. When fewer than 13 in 100 keys were in the table (it compresses by less than
// 1.15), the next slices go straight to the kernel, ever more of them while that stays so.
constexpr std::size_t slice_rows = 8192, longest_bypass = 64;
constexpr double worthwhile = 0.13;
// A digit takes 2^31 additions of 32 bits, a block makes at most 260 to each: settle long before.
constexpr std::size_t blocks_between_settling = 4096;
}  // namespace

Accumulator::Accumulator(double p, std::uint32_t size, const std::uint8_t (&key)[16], std::uint32_t domain,
                         std::size_t rows, const Tier& tier)
    : table_(stable_table(p)),
      view_(view_of(*table_)),
      key_(key),
      domain_(domain),
      size_(size),
      pairs_((size + 1) / 2),
      digits_(digits_for(p, table_->resolution)),
      tier_(tier),
      fold_(rows),
      evicted_(std::make_unique<Evicted>()) {}

void Accumulator::add(const std::uint64_t* fingerprints, const std::int64_t* weights, std::size_t n,
                      std::int64_t sign) {
    for (std::size_t start = 0; start < n; start += slice_rows) {
        const std::size_t count = n - start < slice_rows ? n - start : slice_rows;
        const std::uint64_t* keys = fingerprints + start;
        const std::int64_t* own = weights ? weights + start : nullptr;
        if (bypass_left_ > 0) {
            --bypass_left_;
            for (std::size_t i = 0; i < count; ++i) push(keys[i], own ? sign * own[i] : sign);
            continue;
        }
        std::size_t hits = 0;
        for (std::size_t at = 0; at < count; at += Evicted::capacity) {
            const std::size_t few = count - at < Evicted::capacity ? count - at : Evicted::capacity;
            hits += tier_.fold_add(fold_.table(), keys + at, own ? own + at : nullptr, few, sign, *evicted_);
            for (std::size_t i = 0; i < evicted_->count; ++i) push(evicted_->key[i], evicted_->weight[i]);
        }
        seen_ += count;
        if (seen_ < fold_.slots() / 2 || count < slice_rows) continue;  // a cold table proves nothing
        if (static_cast<double>(hits) < worthwhile * static_cast<double>(count)) {
            bypass_length_ = bypass_length_ == 0 ? 8 : bypass_length_ < longest_bypass ? 2 * bypass_length_ : longest_bypass;
            bypass_left_ = bypass_length_;
        } else {
            bypass_length_ = 0;
        }
    }
}

std::vector<std::int64_t> Accumulator::finish() {
    fold_.drain([this](std::uint64_t key, std::int64_t weight) { push(key, weight); });
    seen_ = bypass_left_ = bypass_length_ = 0;
    const std::size_t length = std::size_t(2 * pairs_) * digits_;
    std::vector<std::int64_t> total(length, 0);
    for (int l = 0; l < levels; ++l) {
        Level& level = level_[l];
        run(level);
        if (level.sums.empty()) continue;
        settle_all(level);
        for (std::size_t at = 0; at < length; at += digits_)
            add_scaled(&total[at], &level.sums[at], digits_, level_bits * l);
        level.sums.clear();
    }
    for (std::size_t at = 0; at < length; at += digits_) settle(&total[at], digits_);
    return total;
}

inline void Accumulator::push(std::uint64_t fingerprint, std::int64_t weight) {
    if (weight < block_weight_limit && weight > -block_weight_limit) [[likely]] {
        put(level_[0], fingerprint, weight);
    } else {
        push_heavy(fingerprint, weight);
    }
}

void Accumulator::push_heavy(std::uint64_t fingerprint, std::int64_t weight) {
    std::uint64_t left = weight < 0 ? ~static_cast<std::uint64_t>(weight) + 1 : static_cast<std::uint64_t>(weight);
    for (int l = 0; left != 0; ++l, left >>= level_bits) {
        const auto piece = static_cast<std::int64_t>(left & ((std::uint64_t(1) << level_bits) - 1));
        if (piece != 0) put(level_[l], fingerprint, weight < 0 ? -piece : piece);
    }
}

inline void Accumulator::put(Level& level, std::uint64_t fingerprint, std::int64_t weight) {
    level.fingerprint[level.filled] = fingerprint;
    level.weight[level.filled] = weight;
    if (++level.filled == block_keys) run(level);
}

void Accumulator::run(Level& level) {
    if (level.filled == 0) return;
    if (level.sums.empty()) level.sums.assign(std::size_t(2 * pairs_) * digits_, 0);
    const KernelJob job{view_, &key_, domain_, pairs_, digits_, level.sums.data()};
    tier_.add_block(job, level.fingerprint.data(), level.weight.data(), level.filled);
    level.filled = 0;
    if (++level.since_settled == blocks_between_settling) settle_all(level);
}

void Accumulator::settle_all(Level& level) const {
    for (std::size_t at = 0; at < level.sums.size(); at += digits_) settle(&level.sums[at], digits_);
    level.since_settled = 0;
}

}  // namespace stablesketch
