// The integers of the wire format (docs/wire-format.md): a length byte, then the fewest bytes of little-endian two's
// complement. Zero is the length byte 0 alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stablesketch {

enum class Form { good, missing, cut, long_form };

struct IntegersEnd {
    std::size_t position;
    Form form;
};

// Where `count` integers end; or the beginning of the first that is missing, cut off or not in its shortest form.
inline IntegersEnd integers_end(const std::uint8_t* bytes, std::size_t length, std::size_t position,
                                std::size_t count) {
    for (; count > 0; --count) {
        if (position >= length) return {position, Form::missing};
        const std::size_t own = bytes[position];
        if (length - position - 1 < own) return {position, Form::cut};
        const std::uint8_t* last = bytes + position + own;
        if (own == 1 && *last == 0) return {position, Form::long_form};
        if (own > 1 && *last == (last[-1] & 0x80 ? 0xff : 0x00)) return {position, Form::long_form};
        position += 1 + own;
    }
    return {position, Form::good};
}

// Appends the integer of these 32-bit digits, two's complement.
inline void append_integer(std::vector<std::uint8_t>& out, const std::uint32_t* digits, std::size_t count) {
    const auto byte = [digits](std::size_t i) { return static_cast<std::uint8_t>(digits[i / 4] >> (8 * (i % 4))); };
    const std::uint8_t sign = digits[count - 1] >> 31 ? 0xff : 0x00;
    std::size_t length = 4 * count;
    while (length > 0 && byte(length - 1) == sign) --length;
    // One more byte if the sign does not show; for -1 it is the only one.
    if (sign ? length == 0 || !(byte(length - 1) & 0x80) : length > 0 && byte(length - 1) & 0x80) ++length;
    out.push_back(static_cast<std::uint8_t>(length));
    for (std::size_t i = 0; i < length; ++i) out.push_back(i < 4 * count ? byte(i) : sign);
}

// The digits of a good integer; false if it is wider than they are.
inline bool read_integer(const std::uint8_t* at, std::uint32_t* digits, std::size_t count) {
    const std::size_t length = *at;
    if (length > 4 * count) return false;
    const std::uint32_t sign = length > 0 && at[length] & 0x80 ? 0xff : 0x00;
    for (std::size_t i = 0; i < count; ++i) digits[i] = 0;
    for (std::size_t i = 0; i < 4 * count; ++i) digits[i / 4] |= (i < length ? at[1 + i] : sign) << (8 * (i % 4));
    return true;
}

}  // namespace stablesketch
