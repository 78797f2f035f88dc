// Memory that starts as zeros, from the shelf or fresh: what is never touched uses none. From 2 MiB on it uses large
// pages, if the system has them: access is random, and with small pages nearly every one would wait for the page table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "shelf.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace stablesketch {

template <class T>
class Zeroed {
  public:
    explicit Zeroed(std::size_t count) {
        constexpr std::size_t line = 64, large = std::size_t(1) << 21;
        const std::size_t bytes = count * sizeof(T), aligned = bytes < large ? line : large;
        bytes_ = bytes + aligned;
        memory_ = Shelf::of_process().take(bytes_);
        if (memory_ == nullptr) throw std::bad_alloc();
        const auto first = (reinterpret_cast<std::uintptr_t>(memory_) + aligned - 1) & ~(aligned - 1);
        first_ = reinterpret_cast<T*>(first);
#if defined(__linux__)
        if (bytes >= large) madvise(first_, bytes & ~(large - 1), MADV_HUGEPAGE);
#endif
    }
    Zeroed(Zeroed&& other) noexcept
        : memory_(std::exchange(other.memory_, nullptr)), bytes_(other.bytes_), first_(other.first_) {}
    Zeroed(const Zeroed&) = delete;
    Zeroed& operator=(const Zeroed&) = delete;
    ~Zeroed() { Shelf::of_process().give(memory_, bytes_); }

    T& operator[](std::size_t i) const { return first_[i]; }
    T* get() const { return first_; }

  private:
    void* memory_;
    std::size_t bytes_;
    T* first_;
};

}  // namespace stablesketch
