// The whole second of a time text in a common form; any other text is left to a full parser of times.
#pragma once

#include <cstdint>
#include <string_view>

namespace stablesketch {

constexpr std::int64_t no_second = INT64_MIN;

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Days from 1970 to a date of the Gregorian calendar, from 1970 on.
inline std::int64_t days_to(std::int64_t year, std::int64_t month, std::int64_t day) {
    constexpr int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    const std::int64_t last = year - 1, leaps = last / 4 - last / 100 + last / 400;
    return 365 * (year - 1970) + leaps - 477 + before[month - 1] + (month > 2 && leap) + day - 1;
}

// Seconds since 1970, with the fraction cut: of a number of at most 18 digits, `per_second` of which make a second, or
// of RFC 3339 from the year 1971 to 9999, with an offset of at most 14 hours. `no_second`: it is neither.
inline std::int64_t second_of(std::string_view text, std::int64_t per_second) {
    std::size_t place = 0;
    const auto number = [&](std::size_t length) {
        std::int64_t found = 0;
        for (const std::size_t end = place + length; place < end; ++place) {
            if (place >= text.size() || !is_digit(text[place])) return std::int64_t{-1};
            found = 10 * found + (text[place] - '0');
        }
        return found;
    };
    const auto one_of = [&](std::string_view characters) {
        return place < text.size() && characters.find(text[place++]) != std::string_view::npos;
    };
    const auto skip_digits = [&] {
        while (place < text.size() && is_digit(text[place])) ++place;
        return place;
    };
    if (text.size() < 5 || text[4] != '-') {
        const std::size_t length = skip_digits();
        if (length == 0 || length > 18) return no_second;
        if (place < text.size() && text[place] == '.') {
            ++place;
            skip_digits();
        }
        if (place != text.size()) return no_second;
        place = 0;
        return number(length) / per_second;
    }
    constexpr int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const std::int64_t year = number(4);
    if (year < 1971 || !one_of("-")) return no_second;
    const std::int64_t month = number(2);
    if (month < 1 || month > 12 || !one_of("-")) return no_second;
    const std::int64_t day = number(2);
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (day < 1 || day > lengths[month - 1] + (month == 2 && leap) || !one_of("Tt ")) return no_second;
    const std::int64_t hour = number(2);
    if (hour < 0 || hour > 23 || !one_of(":")) return no_second;
    const std::int64_t minute = number(2);
    if (minute < 0 || minute > 59 || !one_of(":")) return no_second;
    const std::int64_t second = number(2);
    if (second < 0 || second > 59) return no_second;
    if (place < text.size() && text[place] == '.') {
        const std::size_t begin = ++place;
        if (skip_digits() == begin) return no_second;
    }
    std::int64_t offset = 0;
    if (!one_of("Zz+-")) return no_second;
    const char sign = text[place - 1];
    if (sign == '+' || sign == '-') {
        const std::int64_t hours = number(2);
        if (place < text.size() && text[place] == ':') ++place;
        const std::int64_t minutes = number(2);
        if (hours < 0 || hours > 14 || minutes < 0 || minutes > 59) return no_second;
        offset = (sign == '+' ? 60 : -60) * (60 * hours + minutes);
    }
    if (place != text.size()) return no_second;
    return 86400 * days_to(year, month, day) + 3600 * hour + 60 * minute + second - offset;
}

}  // namespace stablesketch
