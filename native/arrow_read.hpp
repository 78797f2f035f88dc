// Fingerprints of the rows of one Arrow array, straight from its buffers. No Python here, and no copy of the data.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "arrow_layout.hpp"

namespace stablesketch {

inline const std::uint8_t* buffer(const ArrowArray& array, std::int64_t index) noexcept {
    return static_cast<const std::uint8_t*>(array.buffers[index]);
}

// Whether rows [0, offset + length + 1) of this many bytes each have a size that fits: then no position within them
// overflows. One row more, because there is one more offset than there are rows.
inline bool addressable(const ArrowArray& array, std::int64_t width) noexcept {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 2 - 1;
    if (array.length < 0 || array.offset < 0 || array.length > most || array.offset > most) return false;
    return array.length + array.offset < most / std::max<std::int64_t>(width, 1);
}

// Checks once per array what the loops below rely on.
inline void check_array(const ArrowArray& array, const Layout& layout, bool dictionary) {
    if (!addressable(array, layout.row_bytes())) throw ArrowBroken{"an array has an impossible length or offset"};
    // A view has the number of its buffer in 32 bits.
    if (array.n_buffers < 0 || array.n_buffers > std::numeric_limits<std::int32_t>::max())
        throw ArrowBroken{"an array has an impossible number of buffers"};
    const bool enough = layout.kind == Kind::views ? array.n_buffers >= layout.least_buffers()
                                                   : array.n_buffers == layout.least_buffers();
    if (!enough || array.buffers == nullptr) throw ArrowBroken{"an array has the wrong number of buffers for its type"};
    if (array.n_children != 0) throw ArrowBroken{"an array of a flat type has children"};
    if ((array.dictionary != nullptr) != dictionary)
        throw ArrowBroken{"an array and its schema disagree on a dictionary"};
    const bool needs_data = layout.kind != Kind::fixed || layout.width > 0;
    if (array.length > 0 && needs_data && buffer(array, 1) == nullptr)
        throw ArrowBroken{"an array with rows has no data buffer"};
}

// The first null at or after row `first`, or `stop`. The bitmap is read whatever null_count says: -1 means that nobody
// counted, and a wrong count would turn nulls into keys. One bit per row costs nothing compared with a hash.
inline std::int64_t next_null(const ArrowArray& array, std::int64_t first, std::int64_t stop) noexcept {
    const std::uint8_t* bits = buffer(array, 0);
    if (bits == nullptr) return stop;
    std::int64_t row = first;
    while (row < stop) {
        const std::int64_t at = array.offset + row;
        if ((at & 7) == 0 && stop - row >= 64 && load<std::uint64_t>(bits + at / 8) == ~0ULL) {
            row += 64;
            continue;
        }
        if (((bits[at / 8] >> (at & 7)) & 1) == 0) return row;
        ++row;
    }
    return stop;
}

// Integers of any width as 64 bits of two's complement; `on_big(i, value)` decides on those of 2^63 and above.
template <class T, class OnBig>
void widen(const std::uint8_t* data, std::int64_t count, std::uint64_t* out, OnBig on_big) {
    for (std::int64_t i = 0; i < count; ++i) {
        const T value = load<T>(data + i * static_cast<std::int64_t>(sizeof(T)));
        if constexpr (sizeof(T) == 8 && T(-1) > T(0)) {
            out[i] = value < two_63 ? value : on_big(i, value);
        } else {
            out[i] = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
        }
    }
}

template <class OnBig>
void read_integers(const ArrowArray& array, const Layout& layout, std::int64_t first, std::int64_t count,
                   std::uint64_t* out, OnBig on_big) {
    const std::uint8_t* data = buffer(array, 1) + (array.offset + first) * layout.width;
    switch (layout.width * (layout.is_signed ? 1 : -1)) {
        case 1: return widen<std::int8_t>(data, count, out, on_big);
        case -1: return widen<std::uint8_t>(data, count, out, on_big);
        case 2: return widen<std::int16_t>(data, count, out, on_big);
        case -2: return widen<std::uint16_t>(data, count, out, on_big);
        case 4: return widen<std::int32_t>(data, count, out, on_big);
        case -4: return widen<std::uint32_t>(data, count, out, on_big);
        case 8: return widen<std::int64_t>(data, count, out, on_big);
        default: return widen<std::uint64_t>(data, count, out, on_big);
    }
}

template <class Offset, class OnBad>
void read_offsets(const ArrowArray& array, Domain domain, const KeySet& keys, std::int64_t first, std::int64_t count,
                  std::uint64_t* out, OnBad on_bad) {
    const std::uint8_t* offsets = buffer(array, 1) + (array.offset + first) * static_cast<std::int64_t>(sizeof(Offset));
    const std::uint8_t* data = buffer(array, 2);  // may be absent when every row is empty
    Offset begin = load<Offset>(offsets);
    for (std::int64_t i = 0; i < count; ++i) {
        const Offset end = load<Offset>(offsets + (i + 1) * static_cast<std::int64_t>(sizeof(Offset)));
        // No buffer is longer than memory can be; beyond that a pointer would overflow.
        const bool beyond = static_cast<std::uint64_t>(end) > (std::uint64_t(1) << 56);
        if (begin < 0 || end < begin || beyond || (data == nullptr && end != begin)) {
            out[i] = on_bad(i, Reason::malformed);
        } else if (end == begin) {
            out[i] = keys.bytes(domain, nullptr, 0);
        } else {
            out[i] = keys.bytes(domain, data + begin, static_cast<std::size_t>(end - begin));
        }
        begin = end;
    }
}

// Views: 16 bytes a row, a length and either the bytes themselves (up to 12) or a prefix, a buffer and an offset in it.
template <class OnBad>
void read_views(const ArrowArray& array, Domain domain, const KeySet& keys, std::int64_t first, std::int64_t count,
                std::uint64_t* out, OnBad on_bad) {
    const std::uint8_t* views = buffer(array, 1) + (array.offset + first) * 16;
    const std::int64_t variadic = array.n_buffers - 3;
    const std::uint8_t* sizes = buffer(array, array.n_buffers - 1);
    for (std::int64_t i = 0; i < count; ++i, views += 16) {
        const auto length = load<std::int32_t>(views);
        if (length < 0) {
            out[i] = on_bad(i, Reason::malformed);
        } else if (length <= 12) {
            out[i] = keys.bytes(domain, views + 4, static_cast<std::size_t>(length));
        } else {
            const std::int64_t index = load<std::int32_t>(views + 8);
            const std::int64_t offset = load<std::int32_t>(views + 12);
            const bool inside = index >= 0 && index < variadic && offset >= 0 && sizes != nullptr &&
                                offset + length <= load<std::int64_t>(sizes + 8 * index) &&
                                buffer(array, 2 + index) != nullptr;
            out[i] = inside ? keys.bytes(domain, buffer(array, 2 + index) + offset, static_cast<std::size_t>(length))
                            : on_bad(i, Reason::malformed);
        }
    }
}

// Rows [first, first + count) of an array that is not dictionary-encoded. The caller handles nulls; for other rows
// without a fingerprint, `on_bad(i, reason)` is called, and returns what to write instead if it does not throw.
template <class OnBad>
void read_values(const ArrowArray& array, const Layout& layout, const KeySet& keys, std::int64_t first,
                 std::int64_t count, std::uint64_t* out, OnBad on_bad) {
    if (count == 0) return;  // an array of no rows may have no buffers
    const std::int64_t at = array.offset + first;
    const std::uint8_t* data = buffer(array, 1);
    switch (layout.kind) {
        case Kind::integer:
            return read_integers(array, layout, first, count, out,
                                 [&keys](std::int64_t, std::uint64_t value) { return keys.integer(value); });
        case Kind::offsets32: return read_offsets<std::int32_t>(array, layout.domain, keys, first, count, out, on_bad);
        case Kind::offsets64: return read_offsets<std::int64_t>(array, layout.domain, keys, first, count, out, on_bad);
        case Kind::views: return read_views(array, layout.domain, keys, first, count, out, on_bad);
        case Kind::fixed:
            if (layout.width == 0) {
                for (std::int64_t i = 0; i < count; ++i) out[i] = keys.bytes(layout.domain, nullptr, 0);
                return;
            }
            for (std::int64_t i = 0; i < count; ++i) {
                const std::uint8_t* row = data + (at + i) * layout.width;
                out[i] = keys.bytes(layout.domain, row, static_cast<std::size_t>(layout.width));
            }
            return;
        case Kind::days:
            for (std::int64_t i = 0; i < count; ++i) out[i] = keys.day(load<std::int32_t>(data + 4 * (at + i)));
            return;
        case Kind::milliseconds_of_days:
            for (std::int64_t i = 0; i < count; ++i) {
                constexpr std::int64_t day = 86'400'000;
                const auto milliseconds = load<std::int64_t>(data + 8 * (at + i));
                out[i] = milliseconds % day == 0 ? keys.day(milliseconds / day) : on_bad(i, Reason::part_of_day);
            }
            return;
        case Kind::ticks:
            for (std::int64_t i = 0; i < count; ++i)
                out[i] = keys.tick(layout.domain, load<std::int64_t>(data + 8 * (at + i)), layout.nanoseconds_per_tick);
            return;
    }
}

}  // namespace stablesketch
