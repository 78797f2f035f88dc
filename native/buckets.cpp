#include "buckets.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace stablesketch {

namespace {
constexpr std::size_t slice = 1024;  // keys whose bits fit in the first-level cache
// A digit has room for 2^31 additions of 32 bits, and a block makes at most a few thousand to each: settle long before.
constexpr std::uint32_t blocks_between_settling = 4096;
// Keys that may wait in total, if there are very many buckets.
constexpr std::size_t most_keys = std::size_t(1) << 21;
// A worker has its own sums up to this many digits, 4 MiB; larger ones are shared, which saves memory.
constexpr std::size_t most_of_its_own = std::size_t(1) << 19;
constexpr int level_bits = 23;
static_assert(block_weight_limit == std::int64_t(1) << level_bits);
}  // namespace

void buckets_of(const Aes128& key, std::uint32_t domain, Encrypt encrypt, const std::uint64_t* fingerprints,
                std::size_t n, std::uint32_t buckets, std::uint32_t* out) {
    std::uint64_t bits[2 * slice];
    for (std::size_t done = 0; done < n; done += slice) {
        const std::size_t few = std::min(n - done, slice);
        encrypt(key, domain ^ bucket_domain, fingerprints + done, few, bits);
        for (std::size_t i = 0; i < few; ++i)
            out[done + i] = static_cast<std::uint32_t>(static_cast<uint128>(bits[2 * i]) * buckets >> 64);
    }
}

void BucketSums::reserve() {
    const std::lock_guard<std::mutex> held(reserving_);
    if (sums_) return;
    blocks_.assign(buckets_, 0);
    totals_.assign(buckets_, 0);
    sums_.emplace(buckets_ * stride_);
}

BucketStage::BucketStage(const KernelJob& job, const Tier& tier, std::uint32_t buckets, std::size_t rows,
                         std::shared_ptr<BucketSums> shared)
    : job_(job),
      add_block_(tier.add_block),
      encrypt_(tier.encrypt),
      buckets_(buckets),
      stride_(std::size_t(2 * job.pairs) * job.digits),
      shared_(shared && buckets * stride_ > most_of_its_own ? std::move(shared)
                                                            : std::make_shared<BucketSums>(buckets, stride_)),
      room_(std::clamp<std::size_t>(most_keys / buckets, 1, std::min(block_keys - 1, 16 + 2 * rows / buckets))),
      apart_(room_ + 1 + room_ / 32),  // not a power of two: places of all buckets would share a few sets of the cache
      key_(buckets * apart_),
      weight_(buckets * apart_),
      waiting_(buckets),
      next_(buckets),
      scratch_(stride_) {}

void BucketStage::add(const std::uint64_t* fingerprints, const std::int64_t* weights, std::size_t n,
                      std::int64_t sign) {
    constexpr std::size_t ahead = 16;  // keys whose places are prefetched
    std::uint32_t bucket[slice];
    for (std::size_t done = 0; done < n; done += slice) {
        const std::size_t few = std::min(n - done, slice);
        buckets_of(*job_.key, job_.domain, encrypt_, fingerprints + done, few, buckets_, bucket);
        for (std::size_t i = 0; i < few; ++i) {
            const std::uint32_t b = bucket[i], later = bucket[std::min(i + ahead, few - 1)];
            __builtin_prefetch(&key_[later * apart_ + waiting_[later]], 1);
            __builtin_prefetch(&weight_[later * apart_ + waiting_[later]], 1);
            const std::size_t at = b * apart_ + waiting_[b];
            key_[at] = fingerprints[done + i];
            weight_[at] = weights ? sign * weights[done + i] : sign;
            if (++waiting_[b] >= room_) [[unlikely]]
                full(b);
        }
    }
}

// A full bucket is added next; in the meantime, everything this needs is prefetched. If another of its keys comes
// first, it is added at once.
void BucketStage::full(std::uint32_t b) {
    if (b == next_) {
        next_ = buckets_;
    } else {
        const auto fetch = [](const auto* from, std::size_t n) {
            for (std::size_t at = 0; at < n; at += 8) __builtin_prefetch(from + at, 1, 2);
        };
        shared_->reserve();
        fetch(&key_[b * apart_], room_);
        fetch(&weight_[b * apart_], room_);
        fetch(shared_->of(b), stride_);
        std::swap(b, next_);
    }
    if (b != buckets_) flush(b);
}

// Adds the keys of one bucket to its sums.
void BucketStage::flush(std::uint32_t b) {
    BucketSums& to = *shared_;
    const std::lock_guard<std::mutex> held(to.lock(b));
    if (to.blocks(b) == 0) to.blocks(b) = 1;
    to.total(b) += run(&key_[b * apart_], &weight_[b * apart_], waiting_[b], to.of(b), to.blocks(b));
    waiting_[b] = 0;
}

void BucketStage::finish(const std::vector<BucketStage*>& together, std::size_t i, std::int64_t* entries,
                         int128* totals) {
    BucketStage& self = *together[i];
    std::vector<BucketSums*> sums;
    for (BucketStage* each : together)
        if (std::find(sums.begin(), sums.end(), each->shared_.get()) == sums.end()) sums.push_back(each->shared_.get());
    const auto edge = [&](std::size_t part) {
        return static_cast<std::uint32_t>(std::uint64_t(self.buckets_) * part / together.size());
    };
    const auto occupied = [&](std::uint32_t b) {
        return std::any_of(together.begin(), together.end(), [b](const BucketStage* each) {
            return each->waiting_[b] != 0 || each->shared_->touched(b);
        });
    };
    KeyBlock block;
    const std::uint32_t end = edge(i + 1);
    for (std::uint32_t b = edge(i); b < end; ++b) {
        if (!occupied(b)) continue;
        std::int64_t* to = entries + b * self.stride_;
        int128 total = 0;
        for (BucketSums* each : sums) {
            if (!each->touched(b)) continue;
            for (std::size_t k = 0; k < self.stride_; ++k) to[k] += each->of(b)[k];
            self.settle_bucket(to);
            total += each->total(b);
        }
        // Blocks are filled from all workers, because full blocks cost less per key.
        std::uint32_t blocks = 0;
        for (const BucketStage* each : together) total += each->fill(block, b, self, to, blocks);
        total += self.run(block.key, block.weight, block.filled, to, blocks);
        block.filled = 0;
        if (blocks > 0) self.settle_bucket(to);
        if (totals) totals[b] += total;
    }
}

void BucketStage::clear() {
    std::fill(waiting_.begin(), waiting_.end(), 0);
    next_ = buckets_;
    shared_->clear();
}

int128 BucketStage::fill(KeyBlock& block, std::uint32_t bucket, BucketStage& runs, std::int64_t* sums,
                         std::uint32_t& blocks) const {
    int128 total = 0;
    for (std::size_t at = bucket * apart_, end = at + waiting_[bucket]; at < end;) {
        const std::size_t few = std::min(end - at, block_keys - block.filled);
        std::copy_n(&key_[at], few, block.key + block.filled);
        std::copy_n(&weight_[at], few, block.weight + block.filled);
        block.filled += few;
        at += few;
        if (block.filled < block_keys) break;
        total += runs.run(block.key, block.weight, block_keys, sums, blocks);
        block.filled = 0;
    }
    return total;
}

// Adds up to a block of keys of one bucket; returns their total.
int128 BucketStage::run(const std::uint64_t* keys, const std::int64_t* weights, std::size_t n, std::int64_t* sums,
                        std::uint32_t& blocks) {
    if (n == 0) return 0;
    constexpr auto bound = static_cast<std::uint64_t>(block_weight_limit - 1);
    std::uint64_t signs = 0, light = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const auto w = static_cast<std::uint64_t>(weights[i]);
        signs |= (w + bound) | (bound - w);  // one is negative if w is outside -bound..bound
        light += w;
    }
    int128 total = static_cast<std::int64_t>(light);
    if (signs >> 63 != 0) {
        total = std::accumulate(weights, weights + n, int128(0));
        run_heavy(keys, weights, n, sums);
    } else {
        job_.sums = sums;
        add_block_(job_, keys, weights, n);
    }
    if (++blocks >= blocks_between_settling) {
        settle_bucket(sums);
        blocks = 1;
    }
    return total;
}

// Weights of 2^23 and more are cut into pieces of 23 bits (accumulator.hpp). Pieces above the lowest are summed
// separately, and the sums are shifted and added.
void BucketStage::run_heavy(const std::uint64_t* keys, const std::int64_t* weights, std::size_t n, std::int64_t* sums) {
    for (int l = 0; l * level_bits < 64; ++l) {
        KeyBlock pieces;
        for (std::size_t i = 0; i < n; ++i) {
            const auto w = static_cast<std::uint64_t>(weights[i]), size = weights[i] < 0 ? ~w + 1 : w;
            const auto piece = static_cast<std::int64_t>(size >> (l * level_bits) & (block_weight_limit - 1));
            pieces.key[pieces.filled] = keys[i];
            pieces.weight[pieces.filled] = weights[i] < 0 ? -piece : piece;
            pieces.filled += piece != 0;
        }
        if (pieces.filled == 0) continue;
        if (l > 0) std::fill(scratch_.begin(), scratch_.end(), 0);
        job_.sums = l > 0 ? scratch_.data() : sums;
        add_block_(job_, pieces.key, pieces.weight, pieces.filled);
        if (l == 0) continue;
        settle_bucket(scratch_.data());
        for (std::size_t at = 0; at < stride_; at += job_.digits)
            add_scaled(sums + at, &scratch_[at], job_.digits, l * level_bits);
    }
}

void BucketStage::settle_bucket(std::int64_t* sums) const {
    for (std::size_t at = 0; at < stride_; at += job_.digits) settle(sums + at, job_.digits);
}

}  // namespace stablesketch
