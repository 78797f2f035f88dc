#include "accumulator.hpp"

#include <thread>
#include <utility>

namespace stablesketch {

namespace {
constexpr double worthwhile = 0.13;  // below this, the table saves less than a factor of 1.15
// A digit has room for 2^31 additions of 32 bits, and a block makes at most 300 to each: settle long before that.
constexpr std::size_t blocks_between_settling = 4096;

// Runs work(0), ..., work(count - 1), each in its own thread.
template <class Work>
void in_threads(std::size_t count, Work&& work) {
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < count; ++i) threads.emplace_back(work, i);
    work(0);
    for (std::thread& thread : threads) thread.join();
}
}  // namespace

Accumulator::Accumulator(const EntryLaw& law, std::uint32_t size, const std::uint8_t (&key)[16], std::uint32_t domain,
                         std::size_t rows, const Tier& tier, std::uint32_t buckets, const Accumulator* beside,
                         bool folded)
    : table_(stable_table(law)),
      view_(view_of(*table_)),
      key_(key),
      domain_(domain),
      size_(size),
      buckets_(buckets),
      pairs_((size / buckets + 1) / 2),
      digits_(digits_for(law, table_->resolution)),
      tier_(tier),
      fold_(folded ? 0 : rows),
      watch_(fold_.slots() / 2, worthwhile),
      evicted_(std::make_unique<Evicted>()) {
    if (buckets == 1) return;
    const KernelJob job{view_, &key_, domain_, pairs_, digits_, nullptr};
    stage_ = std::make_unique<BucketStage>(job, tier_, buckets, rows, beside ? beside->stage_->shared() : nullptr);
}

Accumulator::Added Accumulator::add(const std::uint64_t* fingerprints, const std::int64_t* weights, std::size_t n,
                                    std::int64_t sign, std::int64_t highest) {
    Added added;
    for (std::size_t start = 0; start < n; start += FoldWatch::slice_rows) {
        const std::size_t count = n - start < FoldWatch::slice_rows ? n - start : FoldWatch::slice_rows;
        const bool past = watch_.passes();
        std::size_t hits = 0;
        for (std::size_t at = start; at < start + count; at += Evicted::capacity) {
            const std::size_t few = start + count - at < Evicted::capacity ? start + count - at : Evicted::capacity;
            const std::uint64_t* keys = fingerprints + at;
            const std::int64_t* own = weights ? weights + at : nullptr;
            bool ones = false;
            if (own) {
                const WeightSum sum = tier_.sum_weights(own, few, highest);
                if (!sum.inside && highest > 0) {
                    for (std::size_t i = few; i-- > 0;)
                        if (own[i] < 1 || own[i] > highest) added.outside = static_cast<std::int64_t>(at + i);
                    return added;
                }
                added.high += sum.high;
                added.low += sum.low;
                ones = sum.ones;
            }
            if (past) {
                push_all(keys, ones ? nullptr : own, few, sign);
                continue;
            }
            hits += tier_.fold_add(fold_.table(), keys, own, ones, few, sign, *evicted_);
            push_all(evicted_->key, evicted_->weight, evicted_->count, 1);
        }
        if (!past) watch_.saw(hits, count);
    }
    return added;
}

void Accumulator::finish(const std::vector<Accumulator*>& together, Entries& entries) {
    const std::size_t count = together.size();
    if (together[0]->stage_) {
        std::vector<BucketStage*> stages;
        for (Accumulator* each : together) stages.push_back(each->stage_.get());
        in_threads(count, [&](std::size_t i) {
            drain_part(together, i);
            together[i]->watch_.reset();
        });
        entries.change([&](std::int64_t* sums, int128* totals) {
            in_threads(count, [&](std::size_t i) { BucketStage::finish(stages, i, sums, totals); });
        });
        for (BucketStage* each : stages) each->clear();
        return;
    }
    std::vector<std::vector<std::int64_t>> sums(count);
    in_threads(count, [&](std::size_t i) {
        drain_part(together, i);
        sums[i] = together[i]->total();
    });
    for (std::size_t i = 1; i < count; ++i)
        for (std::size_t k = 0; k < sums[0].size(); ++k) sums[0][k] += sums[i][k];
    entries.absorb(sums[0]);
}

// Empties the i-th part of all folds into the i-th accumulator or, if the folds differ in size, each fold into its own.
void Accumulator::drain_part(const std::vector<Accumulator*>& together, std::size_t i) {
    const std::size_t count = together.size();
    std::vector<Fold*> others;
    bool alike = true;
    for (std::size_t k = 1; k < count; ++k) {
        others.push_back(&together[k]->fold_);
        alike = alike && together[k]->fold_.lines() == together[0]->fold_.lines();
    }
    Accumulator& self = *together[i];
    Evicted& out = *self.evicted_;
    out.count = 0;
    const auto push = [&] { self.push_all(out.key, out.weight, std::exchange(out.count, 0), 1); };
    const auto take = [&](std::uint64_t key, std::int64_t weight) {
        out.key[out.count] = key;
        out.weight[out.count] = weight;
        if (++out.count == Evicted::capacity) push();
    };
    const std::size_t lines = self.fold_.lines();
    if (alike)
        together[0]->fold_.drain_with(others, lines * i / count, lines * (i + 1) / count, take);
    else
        self.fold_.drain_with({}, 0, lines, take);
    push();
}

std::vector<std::int64_t> Accumulator::total() {
    watch_.reset();
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
    if (stage_) {
        stage_->add(&fingerprint, &weight, 1, 1);
    } else if (weight < block_weight_limit && weight > -block_weight_limit) [[likely]] {
        put(level_[0], fingerprint, weight);
    } else {
        push_heavy(fingerprint, weight);
    }
}

// The same as push of each key, but copies whole runs if none of their weights is heavy.
void Accumulator::push_all(const std::uint64_t* fingerprints, const std::int64_t* weights, std::size_t n,
                           std::int64_t sign) {
    if (stage_) return stage_->add(fingerprints, weights, n, sign);
    Level& level = level_[0];
    for (std::size_t done = 0; done < n;) {
        const std::size_t room = block_keys - level.filled, few = n - done < room ? n - done : room;
        std::uint64_t signs = 0;
        for (std::size_t i = 0; weights && i < few; ++i) {
            const auto w = static_cast<std::uint64_t>(weights[done + i]);
            constexpr auto bound = static_cast<std::uint64_t>(block_weight_limit - 1);
            signs |= (w + bound) | (bound - w);  // one is negative if w is outside -bound..bound
        }
        if (signs >> 63 != 0) {
            for (std::size_t i = done; i < done + few; ++i) push(fingerprints[i], sign * weights[i]);
        } else {
            for (std::size_t i = 0; i < few; ++i) {
                level.fingerprint[level.filled + i] = fingerprints[done + i];
                level.weight[level.filled + i] = weights ? sign * weights[done + i] : sign;
            }
            level.filled += few;
            if (level.filled == block_keys) run(level);
        }
        done += few;
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
