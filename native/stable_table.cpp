#include "stable_table.hpp"

#include "direct_rows.hpp"
#include "marked_rows.hpp"

#include <list>
#include <mutex>

namespace stablesketch {

namespace {

std::shared_ptr<const StableTable> built(const EntryLaw& law) {
    auto table = std::make_shared<StableTable>();
    static_cast<TableShape&>(*table) = table_shape(law);
    table->law = law;
    table->rows.assign(2 * table->rows_per_side(), Row{});
    auto fill = fill_table_plain;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")) fill = fill_table_fma;
#endif
    table->deep.assign(std::size_t(deep_octaves(law).both()) << table->bin_bits, Row{});
    fill(law, *table, table->rows.data(), table->deep.data());
    if (continued(law).both_sides) table->marked = marked_rows(*table);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) table->direct = direct_rows(*table);
#endif
    return table;
}

// The tables used last, latest first. A stored sketch may have any p. With an unbounded cache, anyone who writes blobs
// of 45 bytes could use up a megabyte of memory with each.
std::mutex mutex;
std::list<std::shared_ptr<const StableTable>> known;

}  // namespace

std::shared_ptr<const StableTable> stable_table(const EntryLaw& law) {
    const std::lock_guard<std::mutex> lock(mutex);
    for (auto at = known.begin(); at != known.end(); ++at) {
        if ((*at)->law != law) continue;
        known.splice(known.begin(), known, at);
        return known.front();
    }
    known.push_front(built(law));
    if (known.size() > most_tables) known.pop_back();  // its users still hold it
    return known.front();
}

std::size_t tables_held() {
    const std::lock_guard<std::mutex> lock(mutex);
    return known.size();
}

}  // namespace stablesketch
