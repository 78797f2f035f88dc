// Folding: the sketch is linear, so equal keys are added up before they cost a column of X.
//
// A bounded table of cache lines, each holding four keys and their weights. A key has one line; when its line is full,
// the lightest of the four leaves the table (it goes to the kernel, nothing is lost) and the new key takes its place, so
// heavy keys stay. A slot of weight 0 is free: it adds nothing, whatever its key. The hash is a multiplication by a
// random odd number, so nobody can aim keys at one line; the result does not depend on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <random>

namespace stablesketch {

struct alignas(64) FoldLine {
    std::uint64_t key[4];
    std::int64_t weight[4];
};

struct FoldTable {
    FoldLine* lines;
    int shift;                 // line = (key * multiplier) >> shift
    std::uint64_t multiplier;  // odd
};

struct Evicted {  // what one call of a fold loop pushed out of the table: at most one for each key given
    static constexpr std::size_t capacity = 1024;
    std::uint64_t key[capacity];
    std::int64_t weight[capacity];
    std::size_t count = 0;
};

// Adds n <= Evicted::capacity keys with weights sign * weights[i] (1 each if null); returns how many were in the table.
using FoldAdd = std::size_t (*)(const FoldTable&, const std::uint64_t* keys, const std::int64_t* weights, std::size_t n,
                                std::int64_t sign, Evicted& out);
std::size_t fold_add_plain(const FoldTable&, const std::uint64_t*, const std::int64_t*, std::size_t, std::int64_t, Evicted&);
#if defined(__x86_64__)
std::size_t fold_add_avx2(const FoldTable&, const std::uint64_t*, const std::int64_t*, std::size_t, std::int64_t, Evicted&);
#endif

class Fold {
  public:
    // Room for about `rows` keys, within 2^6 to 2^16 lines: 4 KiB to 4 MiB.
    explicit Fold(std::size_t rows) {
        int bits = 6;
        while (bits < largest_bits && (std::size_t(2) << bits) < rows) ++bits;
        count_ = std::size_t(1) << bits;
        std::random_device random;
        table_.shift = 64 - bits;
        table_.multiplier = (std::uint64_t(random()) << 32 | random()) | 1;
        table_.lines = static_cast<FoldLine*>(std::aligned_alloc(alignof(FoldLine), count_ * sizeof(FoldLine)));
        if (table_.lines == nullptr) throw std::bad_alloc();
        clear();
    }
    ~Fold() { std::free(table_.lines); }
    Fold(const Fold&) = delete;
    Fold& operator=(const Fold&) = delete;

    const FoldTable& table() const { return table_; }
    std::size_t slots() const { return 4 * count_; }

    template <class Take>
    void drain(Take&& take) {
        for (std::size_t i = 0; i < count_; ++i)
            for (int k = 0; k < 4; ++k)
                if (table_.lines[i].weight[k] != 0) take(table_.lines[i].key[k], table_.lines[i].weight[k]);
        clear();
    }

  private:
    static constexpr int largest_bits = 16;
    void clear() {
        for (std::size_t i = 0; i < count_; ++i) table_.lines[i] = FoldLine{};
    }
    FoldTable table_;
    std::size_t count_;
};

}  // namespace stablesketch
