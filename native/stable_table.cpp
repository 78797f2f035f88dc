#include "stable_table.hpp"

#include "direct_rows.hpp"
#include "marked_rows.hpp"

#include <map>
#include <mutex>

namespace stablesketch {

std::shared_ptr<const StableTable> stable_table(double p) {
    // A table is at most 1 MiB, with the copies for vector tiers up to three; streams use few orders, so they are kept for the life of the process.
    static std::mutex mutex;
    static std::map<double, std::shared_ptr<const StableTable>> known;
    const std::lock_guard<std::mutex> lock(mutex);
    auto& slot = known[p];
    if (!slot) {
        auto table = std::make_shared<StableTable>();
        static_cast<TableShape&>(*table) = table_shape(p);
        table->p = p;
        table->rows.assign(2 * table->rows_per_side(), Row{});
        auto fill = fill_table_plain;
#if defined(__x86_64__)
        __builtin_cpu_init();
        if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")) fill = fill_table_fma;
#endif
        fill(p, *table, table->rows.data());
        if (one_sided(p)) table->marked = marked_rows(*table);
#if defined(__x86_64__)
        if (__builtin_cpu_supports("avx512f")) table->direct = direct_rows(*table);
#endif
        slot = std::move(table);
    }
    return slot;
}

}  // namespace stablesketch
