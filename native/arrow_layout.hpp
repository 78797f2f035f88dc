// Which Arrow types can be keys, and how the bytes of each are laid out. Any other type is refused by name.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "arrow_abi.hpp"
#include "fingerprint.hpp"

namespace stablesketch {

// A struct of the C data interface that is released exactly once, by whoever holds it last.
template <class T>
class Owned {
  public:
    Owned() noexcept = default;
    // Takes over from the producer's struct, which by the interface's rule of moving is marked released.
    explicit Owned(T& source) noexcept : held_(source) { source.release = nullptr; }
    Owned(Owned&& other) noexcept : held_(std::exchange(other.held_, T{})) {}
    Owned& operator=(Owned&& other) noexcept {
        if (this != &other) {
            reset();
            held_ = std::exchange(other.held_, T{});
        }
        return *this;
    }
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;
    ~Owned() { reset(); }

    T* get() noexcept { return &held_; }
    const T& operator*() const noexcept { return held_; }
    const T* operator->() const noexcept { return &held_; }
    bool live() const noexcept { return held_.release != nullptr; }

  private:
    void reset() noexcept {
        if (held_.release != nullptr) held_.release(&held_);
    }
    T held_{};
};

// The type is not supported. `extension` is the registered name of an extension type, or empty.
struct FormatRefused {
    std::string format;
    std::string extension;
    bool dictionary = false;
};

// The producer broke the interface (a missing buffer, a wrong count) or reported an error of its own.
struct ArrowBroken {
    std::string problem;
};

enum class Kind : std::uint8_t { integer, offsets32, offsets64, views, fixed, days, milliseconds_of_days, ticks };

struct Layout {
    Kind kind;
    Domain domain = Domain::bytes;
    std::int64_t width = 0;                 // bytes a row, for integers and fixed-size binary
    bool is_signed = true;                  // for integers
    std::int64_t nanoseconds_per_tick = 1;  // for timestamps

    // Bytes per row in the buffer that has something for every row.
    std::int64_t row_bytes() const noexcept {
        switch (kind) {
            case Kind::integer:
            case Kind::fixed: return width;
            case Kind::offsets32:
            case Kind::days: return 4;
            case Kind::offsets64:
            case Kind::milliseconds_of_days:
            case Kind::ticks: return 8;
            case Kind::views: return 16;
        }
        return 16;
    }

    // Validity and data; offsets before the data; views before any number of data buffers and their sizes.
    std::int64_t least_buffers() const noexcept {
        return kind == Kind::offsets32 || kind == Kind::offsets64 || kind == Kind::views ? 3 : 2;
    }
};

inline std::optional<Layout> integer_layout(std::string_view format) {
    if (format.size() != 1) return std::nullopt;
    switch (format[0]) {
        case 'c': return Layout{Kind::integer, Domain::big, 1, true};
        case 'C': return Layout{Kind::integer, Domain::big, 1, false};
        case 's': return Layout{Kind::integer, Domain::big, 2, true};
        case 'S': return Layout{Kind::integer, Domain::big, 2, false};
        case 'i': return Layout{Kind::integer, Domain::big, 4, true};
        case 'I': return Layout{Kind::integer, Domain::big, 4, false};
        case 'l': return Layout{Kind::integer, Domain::big, 8, true};
        case 'L': return Layout{Kind::integer, Domain::big, 8, false};
        default: return std::nullopt;
    }
}

inline std::optional<Layout> timestamp_layout(std::string_view format) {
    if (format.size() < 4 || format.substr(0, 2) != "ts" || format[3] != ':') return std::nullopt;
    Layout layout{Kind::ticks};
    layout.domain = format.size() > 4 ? Domain::instant : Domain::naive;  // a zone follows the colon, or nothing does
    switch (format[2]) {
        case 's': layout.nanoseconds_per_tick = 1'000'000'000; break;
        case 'm': layout.nanoseconds_per_tick = 1'000'000; break;
        case 'u': layout.nanoseconds_per_tick = 1'000; break;
        case 'n': layout.nanoseconds_per_tick = 1; break;
        default: return std::nullopt;
    }
    return layout;
}

inline std::optional<Layout> fixed_layout(std::string_view format) {
    if (format.substr(0, 2) != "w:") return std::nullopt;
    Layout layout{Kind::fixed};
    const char* end = format.data() + format.size();
    const auto parsed = std::from_chars(format.data() + 2, end, layout.width);
    constexpr std::int64_t widest = std::numeric_limits<std::int32_t>::max();  // Arrow has the width as 32 bits
    if (parsed.ec != std::errc() || parsed.ptr != end || layout.width < 0 || layout.width > widest) return std::nullopt;
    return layout;
}

// An extension type is refused unless it is known: its storage alone does not say what its values mean.
inline std::optional<Layout> layout_of(std::string_view format, std::string_view extension) {
    if (!extension.empty()) {
        auto layout = fixed_layout(format);
        if (extension != "arrow.uuid" || !layout || layout->width != 16) return std::nullopt;
        layout->domain = Domain::uuid;
        return layout;
    }
    if (auto layout = integer_layout(format)) return layout;
    if (auto layout = timestamp_layout(format)) return layout;
    if (auto layout = fixed_layout(format)) return layout;
    if (format == "u") return Layout{Kind::offsets32, Domain::text};
    if (format == "U") return Layout{Kind::offsets64, Domain::text};
    if (format == "vu") return Layout{Kind::views, Domain::text};
    if (format == "z") return Layout{Kind::offsets32, Domain::bytes};
    if (format == "Z") return Layout{Kind::offsets64, Domain::bytes};
    if (format == "vz") return Layout{Kind::views, Domain::bytes};
    if (format == "tdD") return Layout{Kind::days, Domain::date};
    if (format == "tdm") return Layout{Kind::milliseconds_of_days, Domain::date};
    return std::nullopt;
}

// The value of ARROW:extension:name in a schema's metadata: a count, then lengths and bytes, as 32-bit integers.
inline std::string extension_name(const ArrowSchema& schema) {
    const char* at = schema.metadata;
    if (at == nullptr) return {};
    const auto next = [&at]() -> std::string_view {
        const auto length = load<std::int32_t>(at);
        if (length < 0) throw ArrowBroken{"its schema metadata has a negative length"};
        const std::string_view text(at + 4, static_cast<std::size_t>(length));
        at += 4 + static_cast<std::size_t>(length);
        return text;
    };
    const auto pairs = load<std::int32_t>(at);
    at += 4;
    for (std::int32_t i = 0; i < pairs; ++i) {
        const auto key = next();
        const auto value = next();
        if (key == "ARROW:extension:name") return std::string(value);
    }
    return {};
}

// The type of a column: the layout of its values and, if it is dictionary-encoded, that of its indices.
struct ColumnType {
    Layout values;
    std::optional<Layout> indices;

    explicit ColumnType(const ArrowSchema& schema) : values{Kind::integer} {
        if (schema.format == nullptr) throw ArrowBroken{"its schema has no format"};
        const auto extension = extension_name(schema);
        if (schema.dictionary == nullptr) {
            values = resolve(schema.format, extension, false);
            return;
        }
        indices = integer_layout(schema.format);
        if (!indices || !extension.empty()) throw FormatRefused{schema.format, extension, true};
        const ArrowSchema& inner = *schema.dictionary;
        if (inner.format == nullptr) throw ArrowBroken{"the schema of its dictionary has no format"};
        if (inner.dictionary != nullptr) throw FormatRefused{"dictionary", "", true};
        values = resolve(inner.format, extension_name(inner), true);
    }

  private:
    static Layout resolve(const char* format, const std::string& extension, bool dictionary) {
        const auto layout = layout_of(format, extension);
        if (!layout) throw FormatRefused{format, extension, dictionary};
        return *layout;
    }
};

}  // namespace stablesketch
