#include "entries.hpp"

#include <stdexcept>

#include "variate.hpp"

namespace stablesketch {

namespace {
// A digit takes 2^31 additions; settling this often costs nothing.
constexpr std::size_t keys_between_settling = std::size_t(1) << 20;
}  // namespace

Entries::Entries(double p, std::uint32_t size)
    : table_(stable_table(p)),
      size_(size),
      digits_(digits_for(p, table_->resolution)),
      sums_(std::size_t(size) * digits_, 0) {}

Entries::Entries(const Entries& other) : table_(other.table_), size_(other.size_), digits_(other.digits_) {
    const std::lock_guard<std::mutex> lock(other.mutex_);
    sums_ = other.sums_;
}

void Entries::add(const Aes128& key, std::uint32_t domain, const std::uint64_t* fingerprints,
                  const std::int64_t* weights, std::size_t n, int sign) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::uint32_t pairs = (size_ + 1) / 2;
    for (std::size_t start = 0; start < n; start += keys_between_settling) {
        const std::size_t stop = start + keys_between_settling < n ? start + keys_between_settling : n;
        for (std::size_t i = start; i < stop; ++i) {
            const std::uint64_t fingerprint = fingerprints[i];
            const std::int64_t weight = sign * (weights ? weights[i] : 1);
            for (std::uint32_t j = 0; j < pairs; ++j) {
                std::uint32_t block[4] = {static_cast<std::uint32_t>(fingerprint),
                                          static_cast<std::uint32_t>(fingerprint >> 32), j, domain};
                key.encrypt(block);
                for (std::uint32_t half = 0; half < 2 && 2 * j + half < size_; ++half) {
                    const std::uint64_t bits = block[2 * half] | std::uint64_t(block[2 * half + 1]) << 32;
                    add_variate(&sums_[std::size_t(2 * j + half) * digits_], *table_, bits,
                                magnitude_of(*table_, bits), weight);
                }
            }
        }
        for (std::uint32_t j = 0; j < size_; ++j) settle(&sums_[std::size_t(j) * digits_], digits_);
    }
}

void Entries::merge(const Entries& other) {
    if (other.p() != p() || other.size_ != size_) throw std::invalid_argument("entries of different p or size");
    std::vector<std::int64_t> theirs;
    {
        const std::lock_guard<std::mutex> lock(other.mutex_);  // never both locks at once: no order to get wrong
        theirs = other.sums_;
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += theirs[i];
    for (std::uint32_t j = 0; j < size_; ++j) settle(&sums_[std::size_t(j) * digits_], digits_);
}

std::vector<std::uint32_t> Entries::state() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::uint32_t> out(sums_.size());
    for (std::size_t i = 0; i < sums_.size(); ++i) out[i] = static_cast<std::uint32_t>(sums_[i]);
    return out;
}

void Entries::load(const std::uint32_t* state) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (std::size_t i = 0; i < sums_.size(); ++i) {
        const bool last = (i + 1) % digits_ == 0;
        sums_[i] = last ? static_cast<std::int64_t>(static_cast<std::int32_t>(state[i])) : std::int64_t(state[i]);
    }
}

}  // namespace stablesketch
