// Memory that comes as zeros: what is never touched takes none. From 2 MiB on it is in large pages, where the system
// has them: it is met at random, and would wait for the page table nearly every time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

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
        memory_.reset(std::calloc(bytes + aligned, 1));
        if (!memory_) throw std::bad_alloc();
        const auto first = (reinterpret_cast<std::uintptr_t>(memory_.get()) + aligned - 1) & ~(aligned - 1);
        first_ = reinterpret_cast<T*>(first);
#if defined(__linux__)
        if (bytes >= large) madvise(first_, bytes & ~(large - 1), MADV_HUGEPAGE);
#endif
    }
    T& operator[](std::size_t i) const { return first_[i]; }
    T* get() const { return first_; }

  private:
    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };
    std::unique_ptr<void, Free> memory_;
    T* first_;
};

}  // namespace stablesketch
