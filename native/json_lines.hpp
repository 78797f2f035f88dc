// Fields of JSON lines as texts, for plain lines: an object with nothing unusual in it. Every other line is left to a
// full JSON parser. Whether a line is plain depends on that line only.
//
// A plain line is valid JSON, and its texts are those that the full parser would give:
// - strings without control characters; names without escapes; a text that is asked for has none either, others have at
//   most those of one character;
// - numbers of at most 18 digits without an exponent. One that is asked for has no sign; with a fraction, it is 1 or
//   more and less than 2·10^9, and has at most 6 digits after the point, the last of which is not 0. Doubles there are
//   less than 10^-6 apart, so no other such number is the same double, and the shortest text of that one is as written;
// - no name on the way to a field comes twice, no field is a list, an object, true or false, and nothing is nested more
//   than 64 deep.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace stablesketch {

// A way to a field: the names that lead into objects, one after the other. Of several ways to a field the first counts
// that has a text.
struct Way {
    std::size_t field;
    std::vector<std::string> names;
};

// A column of texts as Arrow has it: text i is bytes[ends[i]] to bytes[ends[i + 1]], and null if bit i of `known` is 0.
struct Texts {
    std::vector<std::int32_t> ends{0};
    std::vector<std::uint8_t> bytes, known;

    void add(std::string_view text) {
        const std::size_t row = ends.size() - 1;
        if (row % 8 == 0) known.push_back(0);
        if (text.data() != nullptr) known.back() |= static_cast<std::uint8_t>(1u << row % 8);
        bytes.insert(bytes.end(), text.begin(), text.end());
        ends.push_back(static_cast<std::int32_t>(bytes.size()));
    }
};

// The character at which a string stops to be plain: a quote, an escape or a control character. Reads in words up to
// `end`; beyond that there must be a character to stop at.
inline const char* string_stop(const char* p, const char* end) {
    constexpr std::uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    const auto zeros = [](std::uint64_t x) { return (x - ones) & ~x & tops; };
    for (std::uint64_t word; end - p >= 8; p += 8) {
        std::memcpy(&word, p, 8);
        const std::uint64_t found =
            zeros(word ^ ones * '"') | zeros(word ^ ones * '\\') | ((word - ones * ' ') & ~word & tops);
        if (found == 0) continue;
        // A borrow may mark bytes above the first one that is meant, never below.
        if constexpr (std::endian::native == std::endian::little) return p + std::countr_zero(found) / 8;
        break;
    }
    while (*p != '"' && *p != '\\' && static_cast<unsigned char>(*p) >= ' ') ++p;
    return p;
}

// Reads one line. What is called with the place of a part gives the place after it, or null if the line is not plain.
class JsonLine {
  public:
    JsonLine(const std::vector<Way>& ways, std::vector<std::string_view>& texts) : ways_(ways), texts_(texts) {}

    // The texts of all ways, if the line that begins here is plain. Its end is a line feed, or `end`, where a character
    // must stand that is in no JSON: every loop stops at control characters.
    const char* read(const char* p, const char* end) {
        end_ = end;
        texts_.assign(ways_.size(), {});
        seen_.assign(ways_.size(), 0);
        p = blank(p);
        if (*p != '{') return nullptr;
        p = object(p + 1, 0, ways_.size() < 64 ? (std::uint64_t{1} << ways_.size()) - 1 : ~std::uint64_t{0});
        if (p == nullptr) return nullptr;
        p = blank(p);
        if (*p == '\r') ++p;
        if (p == end) return p;
        return *p == '\n' ? p + 1 : nullptr;
    }

  private:
    static constexpr int deepest = 64;

    static const char* blank(const char* p) {
        while (*p == ' ' || *p == '\t') ++p;
        return p;
    }

    // What follows '{'. `open` are the ways that have led here, by the names before.
    const char* object(const char* p, int depth, std::uint64_t open) {
        if (depth >= deepest) return nullptr;
        p = blank(p);
        if (*p == '}') return p + 1;
        for (;; p = blank(p + 1)) {
            if (*p != '"') return nullptr;
            const char* stop = string_stop(p + 1, end_);
            if (*stop != '"') return nullptr;
            const std::string_view name(p + 1, static_cast<std::size_t>(stop - p - 1));
            std::uint64_t here = 0, inside = 0;
            for (std::uint64_t left = open; left != 0; left &= left - 1) {
                const auto i = static_cast<std::size_t>(std::countr_zero(left));
                const auto& names = ways_[i].names;
                if (name != names[static_cast<std::size_t>(depth)]) continue;
                if (seen_[i] > depth) return nullptr;  // it comes twice
                const bool last = names.size() == static_cast<std::size_t>(depth) + 1;
                seen_[i] = depth + 1;
                (last ? here : inside) |= left & -left;
            }
            p = blank(stop + 1);
            if (*p != ':') return nullptr;
            p = blank(p + 1);
            if (here != 0)
                p = asked(p, here);
            else if (inside != 0 && *p == '[')
                return nullptr;
            else
                p = value(p, depth + 1, inside);
            if (p == nullptr) return nullptr;
            p = blank(p);
            if (*p == '}') return p + 1;
            if (*p != ',') return nullptr;
        }
    }

    const char* value(const char* p, int depth, std::uint64_t open) {
        switch (*p) {
            case '{': return object(p + 1, depth, open);
            case '[': return list(p + 1, depth);
            case '"': return string(p + 1);
            case 't': return word(p, "true");
            case 'f': return word(p, "false");
            case 'n': return word(p, "null");
            default: return number(p).end;
        }
    }

    const char* list(const char* p, int depth) {
        if (depth >= deepest) return nullptr;
        p = blank(p);
        if (*p == ']') return p + 1;
        for (;; p = blank(p + 1)) {
            p = value(p, depth + 1, 0);
            if (p == nullptr) return nullptr;
            p = blank(p);
            if (*p == ']') return p + 1;
            if (*p != ',') return nullptr;
        }
    }

    const char* string(const char* p) const {
        for (;; p += 2) {
            p = string_stop(p, end_);
            if (*p == '"') return p + 1;
            if (*p != '\\' || p[1] == '\0' || std::strchr("\"\\/bfnrt", p[1]) == nullptr) return nullptr;
        }
    }

    static const char* word(const char* p, const char* wanted) {
        for (; *wanted != '\0'; ++p, ++wanted)
            if (*p != *wanted) return nullptr;
        return p;
    }

    struct Number {
        const char* end;                         // null if it is none
        std::ptrdiff_t whole = 0, fraction = 0;  // digits
    };
    static Number number(const char* p) {
        const auto digits = [](const char* q) {
            while (*q >= '0' && *q <= '9') ++q;
            return q;
        };
        if (*p == '-') ++p;
        const char* point = *p == '0' ? p + 1 : digits(p);
        Number found{point, point - p};
        if (*point == '.') {
            found.end = digits(point + 1);
            found.fraction = found.end - point - 1;
            if (found.fraction == 0) found.end = nullptr;
        }
        if (found.whole == 0 || found.whole + found.fraction > 18) found.end = nullptr;
        return found;
    }

    // The text of a field; `here` are the ways that end at it.
    const char* asked(const char* p, std::uint64_t here) {
        std::string_view text;
        const char* end = nullptr;
        if (*p == '"') {
            const char* stop = string_stop(p + 1, end_);
            if (*stop != '"') return nullptr;
            text = {p + 1, static_cast<std::size_t>(stop - p - 1)};
            end = stop + 1;
        } else if (*p == 'n') {
            return word(p, "null");
        } else {
            const Number found = number(p);
            if (found.end == nullptr || *p == '-') return nullptr;
            if (found.fraction > 0) {
                const bool small = found.whole < 10 || (found.whole == 10 && *p == '1');
                if (!small || *p == '0' || found.fraction > 6 || found.end[-1] == '0') return nullptr;
            }
            text = {p, static_cast<std::size_t>(found.end - p)};
            end = found.end;
        }
        for (; here != 0; here &= here - 1) texts_[static_cast<std::size_t>(std::countr_zero(here))] = text;
        return end;
    }

    const std::vector<Way>& ways_;
    std::vector<std::string_view>& texts_;
    std::vector<int> seen_;  // how many names of each way
    const char* end_ = nullptr;
};

// The fields of the plain lines, and the lines that are not: their numbers and, one after the other, what is in them.
struct JsonFields {
    std::vector<Texts> fields;
    std::vector<std::int64_t> other_numbers;
    std::vector<std::uint8_t> others;
    std::int64_t lines = 0;
};

inline JsonFields json_fields(const char* p, const char* end, const std::vector<Way>& ways, std::size_t fields) {
    JsonFields found;
    found.fields.resize(fields);
    std::vector<std::string_view> texts, chosen(fields);
    JsonLine line(ways, texts);
    for (; p != end; ++found.lines) {
        const char* next = line.read(p, end);
        if (next == nullptr) {
            const void* feed = std::memchr(p, '\n', static_cast<std::size_t>(end - p));
            next = feed == nullptr ? end : static_cast<const char*>(feed) + 1;
            found.other_numbers.push_back(found.lines);
            found.others.insert(found.others.end(), p, next);
        } else {
            chosen.assign(fields, {});
            for (std::size_t i = 0; i < ways.size(); ++i)
                if (chosen[ways[i].field].data() == nullptr) chosen[ways[i].field] = texts[i];
            for (std::size_t i = 0; i < fields; ++i) found.fields[i].add(chosen[i]);
        }
        p = next;
    }
    return found;
}

}  // namespace stablesketch
