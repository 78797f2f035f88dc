#include "buckets.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

namespace stablesketch {

namespace {
constexpr std::size_t slice = 1024;  // keys whose bits fit in the first-level cache
// A digit takes 2^31 additions of 32 bits, a block makes at most some thousand to each: settle long before.
constexpr std::uint32_t blocks_between_settling = 4096;
// Keys that wait before they are sorted: for each bucket so many, and in all within these.
constexpr std::size_t keys_a_bucket = 128, fewest_keys = std::size_t(1) << 17, most_keys = std::size_t(1) << 21;
constexpr int level_bits = 23;
static_assert(block_weight_limit == std::int64_t(1) << level_bits);

int128 sum_of(const std::int64_t* weights, std::size_t n) {
    int128 sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += weights[i];
    return sum;
}
}  // namespace

void buckets_of(const Aes128& key, std::uint32_t domain, Encrypt encrypt, const std::uint64_t* fingerprints, std::size_t n,
                std::uint32_t buckets, std::uint32_t* out) {
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
    if (sums_ != nullptr) return;
    blocks_.assign(buckets_, 0);
    totals_.assign(buckets_, 0);
    sums_ = static_cast<std::int64_t*>(std::calloc(buckets_ * stride_, sizeof(std::int64_t)));
    if (sums_ == nullptr) throw std::bad_alloc();
}

void BucketSums::clear() {
    std::free(std::exchange(sums_, nullptr));
}

std::uint32_t BucketSums::next_start() {
    const std::lock_guard<std::mutex> held(reserving_);
    return static_cast<std::uint32_t>(std::uint64_t(workers_++) * 2654435769u % buckets_);
}

BucketStage::BucketStage(const KernelJob& job, const Tier& tier, std::uint32_t buckets, std::shared_ptr<BucketSums> shared)
    : job_(job),
      add_block_(tier.add_block),
      encrypt_(tier.encrypt),
      buckets_(buckets),
      stride_(std::size_t(2 * job.pairs) * job.digits),
      limit_(std::clamp(keys_a_bucket * buckets, fewest_keys, most_keys)),
      shared_(shared ? std::move(shared) : std::make_shared<BucketSums>(buckets, stride_)),
      start_(shared_->next_start()),
      scratch_(stride_) {}

void BucketStage::add(const std::uint64_t* fingerprints, const std::int64_t* weights, std::size_t n, std::int64_t sign) {
    for (std::size_t done = 0; done < n;) {
        const std::size_t held = key_.size(), few = std::min(n - done, limit_ - held);
        key_.insert(key_.end(), fingerprints + done, fingerprints + done + few);
        weight_.resize(held + few, sign);
        for (std::size_t i = 0; weights && i < few; ++i) weight_[held + i] = sign * weights[done + i];
        done += few;
        if (key_.size() == limit_) flush();
    }
}

// By counting. Then those of bucket b are from end_[b - 1] to end_[b].
void BucketStage::sort() {
    const std::size_t n = key_.size();
    bucket_.resize(n);
    sorted_key_.resize(n);
    sorted_weight_.resize(n);
    end_.assign(buckets_, 0);
    buckets_of(*job_.key, job_.domain, encrypt_, key_.data(), n, buckets_, bucket_.data());
    for (std::size_t i = 0; i < n; ++i) ++end_[bucket_[i]];
    std::uint32_t before = 0;
    for (std::uint32_t& end : end_) before += std::exchange(end, before);
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t to = end_[bucket_[i]]++;
        sorted_key_[to] = key_[i];
        sorted_weight_[to] = weight_[i];
    }
    key_.clear();
    weight_.clear();
}

void BucketStage::flush() {
    sort();
    BucketSums& to = *shared_;
    to.reserve();
    for (std::uint32_t i = 0; i < buckets_; ++i) {
        const std::uint32_t b = i < buckets_ - start_ ? start_ + i : i - (buckets_ - start_);
        const std::size_t from = begin(b), n = end_[b] - from;
        if (n == 0) continue;
        const std::lock_guard<std::mutex> held(to.lock(b));
        if (to.blocks(b) == 0) to.blocks(b) = 1;
        run(to.of(b), to.blocks(b), &sorted_key_[from], &sorted_weight_[from], n);
        to.total(b) += sum_of(&sorted_weight_[from], n);
    }
}

void BucketStage::finish(const std::vector<BucketStage*>& together, std::size_t i, std::int64_t* entries, int128* totals) {
    BucketStage& self = *together[i];
    std::vector<BucketSums*> sums;
    for (BucketStage* each : together)
        if (std::find(sums.begin(), sums.end(), each->shared_.get()) == sums.end()) sums.push_back(each->shared_.get());
    const auto edge = [&](std::size_t part) { return static_cast<std::uint32_t>(std::uint64_t(self.buckets_) * part / together.size()); };
    std::uint64_t keys[block_keys];
    std::int64_t weights[block_keys];
    for (std::uint32_t b = edge(i); b < edge(i + 1); ++b) {
        std::int64_t* to = entries + b * self.stride_;
        std::uint32_t blocks = 1;
        for (BucketSums* each : sums) {
            if (!each->touched(b)) continue;
            for (std::size_t k = 0; k < self.stride_; ++k) to[k] += each->of(b)[k];
            self.settle_bucket(to);
            if (totals) totals[b] += each->total(b);
        }
        // Blocks are filled from all workers, since full ones cost less a key.
        std::size_t filled = 0;
        for (BucketStage* each : together) {
            std::size_t at = each->begin(b);
            const std::size_t end = each->end_[b];
            if (totals) totals[b] += sum_of(each->sorted_weight_.data() + at, end - at);
            while (at < end) {
                const std::size_t few = std::min(end - at, block_keys - filled);
                std::copy_n(each->sorted_key_.data() + at, few, keys + filled);
                std::copy_n(each->sorted_weight_.data() + at, few, weights + filled);
                at += few;
                filled += few;
                if (filled < block_keys) break;
                self.run(to, blocks, keys, weights, filled);
                filled = 0;
            }
        }
        self.run(to, blocks, keys, weights, filled);
        if (blocks > 1) self.settle_bucket(to);
    }
}

void BucketStage::clear() {
    sorted_key_.clear();
    sorted_weight_.clear();
    shared_->clear();
}

// Any number of keys of one bucket.
void BucketStage::run(std::int64_t* sums, std::uint32_t& blocks, const std::uint64_t* keys, const std::int64_t* weights,
                      std::size_t n) {
    for (std::size_t done = 0; done < n; done += block_keys) {
        run_block(sums, keys + done, weights + done, std::min(n - done, block_keys));
        if (++blocks < blocks_between_settling) continue;
        settle_bucket(sums);
        blocks = 1;
    }
}

// Weights of 2^23 and more are cut into pieces of 23 bits (accumulator.hpp); those above the lowest are summed apart, and
// the sums are added, shifted.
void BucketStage::run_block(std::int64_t* sums, const std::uint64_t* keys, const std::int64_t* weights, std::size_t n) {
    constexpr auto bound = static_cast<std::uint64_t>(block_weight_limit - 1);
    std::uint64_t signs = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const auto w = static_cast<std::uint64_t>(weights[i]);
        signs |= (w + bound) | (bound - w);  // one is negative if w is outside -bound..bound
    }
    job_.sums = sums;
    if (signs >> 63 == 0) return add_block_(job_, keys, weights, n);
    for (int l = 0; l * level_bits < 64; ++l) {
        std::uint64_t some[block_keys];
        std::int64_t piece[block_keys];
        std::size_t count = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const auto w = static_cast<std::uint64_t>(weights[i]), size = weights[i] < 0 ? ~w + 1 : w;
            const auto part = static_cast<std::int64_t>(size >> l * level_bits & bound);
            some[count] = keys[i];
            piece[count] = weights[i] < 0 ? -part : part;
            count += part != 0;
        }
        if (count == 0) continue;
        if (l == 0) {
            add_block_(job_, some, piece, count);
            continue;
        }
        std::fill(scratch_.begin(), scratch_.end(), 0);
        job_.sums = scratch_.data();
        add_block_(job_, some, piece, count);
        settle_bucket(scratch_.data());
        for (std::size_t at = 0; at < stride_; at += job_.digits)
            add_scaled(sums + at, &scratch_[at], job_.digits, l * level_bits);
    }
}

void BucketStage::settle_bucket(std::int64_t* sums) const {
    for (std::size_t at = 0; at < stride_; at += job_.digits) settle(sums + at, job_.digits);
}

}  // namespace stablesketch
