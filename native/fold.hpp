// Folding: the sketch is linear, so equal keys are added up before they cost a column of X.
//
// A bounded table of cache lines, each holding four keys and their weights. A key has one line; when its line is full,
// the lightest of the four leaves the table (it goes to the kernel, nothing is lost) and the new key takes its place, so
// heavy keys stay. A slot of weight 0 is free: it adds nothing, whatever its key. The hash is a multiplication by an odd
// number, random in each process, so nobody can aim keys at one line; the result does not depend on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <random>
#include <vector>

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
        table_.shift = 64 - bits;
        table_.multiplier = process_multiplier();
        table_.lines = static_cast<FoldLine*>(std::aligned_alloc(alignof(FoldLine), count_ * sizeof(FoldLine)));
        if (table_.lines == nullptr) throw std::bad_alloc();
        clear();
    }
    ~Fold() { std::free(table_.lines); }
    Fold(const Fold&) = delete;
    Fold& operator=(const Fold&) = delete;

    const FoldTable& table() const { return table_; }
    std::size_t lines() const { return count_; }
    std::size_t slots() const { return 4 * count_; }

    // Empties some lines of this table and of others with as many lines: a key has the same line in all of them, so it
    // is added up once more. Different lines may be drained by different threads.
    template <class Take>
    void drain(const std::vector<Fold*>& others, std::size_t begin, std::size_t end, Take&& take) {
        for (std::size_t i = begin; i < end; ++i) {
            FoldLine& line = table_.lines[i];
            for (Fold* other : others) {
                FoldLine& theirs = other->table_.lines[i];
                for (int k = 0; k < 4; ++k)
                    if (theirs.weight[k] != 0 && !join(line, theirs.key[k], theirs.weight[k]))
                        take(theirs.key[k], theirs.weight[k]);
                theirs = FoldLine{};
            }
            for (int k = 0; k < 4; ++k)
                if (line.weight[k] != 0) take(line.key[k], line.weight[k]);
            line = FoldLine{};
        }
    }

  private:
    static constexpr int largest_bits = 16;
    static std::uint64_t process_multiplier() {
        static const std::uint64_t multiplier = [] {
            std::random_device random;
            return (std::uint64_t(random()) << 32 | random()) | 1;
        }();
        return multiplier;
    }
    // Into the slot of this key, or a free one; whether there was either, and room in it (fold_loop.hpp).
    static bool join(FoldLine& line, std::uint64_t key, std::int64_t weight) {
        int free = -1;
        for (int k = 0; k < 4; ++k) {
            if (line.weight[k] == 0) {
                free = k;
            } else if (line.key[k] == key) {
                const std::int64_t sum = line.weight[k] + weight;
                constexpr std::int64_t large = std::int64_t(1) << 61;
                if (sum > large || sum < -large) return false;
                line.weight[k] = sum;
                return true;
            }
        }
        if (free < 0) return false;
        line.key[free] = key;
        line.weight[free] = weight;
        return true;
    }
    void clear() {
        for (std::size_t i = 0; i < count_; ++i) table_.lines[i] = FoldLine{};
    }
    FoldTable table_;
    std::size_t count_;
};

}  // namespace stablesketch
