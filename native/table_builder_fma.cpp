#if defined(__x86_64__)
#include "table_builder.hpp"

namespace stablesketch {
void fill_table_fma(const EntryLaw& law, const TableShape& shape, Row* rows, Row* deep) {
    Builder(law, shape, rows, deep).fill();
}
}  // namespace stablesketch
#endif
