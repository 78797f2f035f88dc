// A whole Arrow column, imported from a stream or a single array: chunks held for as long as the column lives, and read
// by row number across them. Reading changes nothing, so any number of threads may read one column at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrow_read.hpp"

namespace stablesketch {

class ArrowColumn {
  public:
    // `keys` may be null for a column of plain integers that is never fingerprinted (the weights).
    ArrowColumn(Owned<ArrowArrayStream> stream, std::shared_ptr<const KeySet> keys) : keys_(std::move(keys)) {
        Owned<ArrowSchema> schema;
        if (const int code = stream->get_schema(stream.get(), schema.get())) throw failed(stream, code);
        accept(*schema);
        for (;;) {
            Owned<ArrowArray> array;
            if (const int code = stream->get_next(stream.get(), array.get())) throw failed(stream, code);
            if (!array.live()) break;
            append(std::move(array));
        }
    }

    ArrowColumn(Owned<ArrowSchema> schema, Owned<ArrowArray> array, std::shared_ptr<const KeySet> keys)
        : keys_(std::move(keys)) {
        accept(*schema);
        append(std::move(array));
    }

    ArrowColumn(const ArrowColumn&) = delete;
    ArrowColumn& operator=(const ArrowColumn&) = delete;

    std::int64_t length() const noexcept { return length_; }

    void fingerprints(std::int64_t start, std::int64_t stop, std::uint64_t* out) const {
        for_chunks(start, stop, [&](const Chunk& chunk, std::int64_t first, std::int64_t count, std::int64_t row) {
            refuse_nulls(*chunk.array, first, count, row);
            std::uint64_t* here = out + (row - start);
            const auto refuse = [row](std::int64_t i, Reason reason) -> std::uint64_t {
                throw RowRefused{row + i, reason};
            };
            if (chunk.table)
                look_up(chunk, first, count, row, here);
            else
                read_values(*chunk.array, type_->values, *keys_, first, count, here, refuse);
        });
    }

    // The integers themselves, for weights: a value that does not fit into 63 bits is refused, never wrapped.
    void integers(std::int64_t start, std::int64_t stop, std::uint64_t* out) const {
        for_chunks(start, stop, [&](const Chunk& chunk, std::int64_t first, std::int64_t count, std::int64_t row) {
            refuse_nulls(*chunk.array, first, count, row);
            read_integers(*chunk.array, type_->values, first, count, out + (row - start),
                          [row](std::int64_t i, std::uint64_t value) -> std::uint64_t {
                              throw RowRefused{row + i, Reason::too_large, value};
                          });
        });
    }

    // The rows in the producer's memory, if they are 64-bit integers below 2^63, which are their own fingerprints, and
    // the range does not cross chunks; null if a copy is needed.
    const std::uint64_t* view(std::int64_t start, std::int64_t stop) const {
        if (type_->indices || type_->values.kind != Kind::integer || type_->values.width != 8) return nullptr;
        const auto found = chunk_of(start);
        if (found == chunks_.end() || start >= stop || stop > found->first_row + found->array->length) return nullptr;
        const std::int64_t first = start - found->first_row;
        refuse_nulls(*found->array, first, stop - start, start);
        const std::uint8_t* data = buffer(*found->array, 1) + (found->array->offset + first) * 8;
        if (reinterpret_cast<std::uintptr_t>(data) % alignof(std::uint64_t) != 0) return nullptr;
        const auto* words = reinterpret_cast<const std::uint64_t*>(data);
        if (!type_->values.is_signed) {
            std::uint64_t any = 0;
            for (std::int64_t i = 0; i < stop - start; ++i) any |= words[i];
            if (any >= two_63) return nullptr;
        }
        return words;
    }

  private:
    // Fingerprints of a dictionary's values, each computed once; a value that has none only matters if a row uses it.
    struct Table {
        std::vector<std::uint64_t> fingerprints;
        std::vector<Reason> reasons;
    };

    struct Chunk {
        Owned<ArrowArray> array;
        std::int64_t first_row;
        std::shared_ptr<const Table> table;
    };

    void accept(const ArrowSchema& schema) {
        type_.emplace(schema);
        const bool plain_integers = !type_->indices && type_->values.kind == Kind::integer;
        if (keys_ || plain_integers) return;
        const bool dictionary = type_->indices.has_value();
        throw FormatRefused{dictionary ? schema.dictionary->format : schema.format, "", dictionary};
    }

    void append(Owned<ArrowArray> array) {
        const bool dictionary = type_->indices.has_value();
        check_array(*array, dictionary ? *type_->indices : type_->values, dictionary);
        std::shared_ptr<const Table> table;
        if (dictionary) {
            check_array(*array->dictionary, type_->values, false);
            const bool again = !chunks_.empty() && same_memory(*chunks_.back().array->dictionary, *array->dictionary);
            table = again ? chunks_.back().table : tabulate(*array->dictionary);
        }
        if (array->length == 0) return;
        const std::int64_t first_row = length_;
        if (__builtin_add_overflow(length_, array->length, &length_))
            throw ArrowBroken{"its chunks have too many rows"};
        chunks_.push_back(Chunk{std::move(array), first_row, std::move(table)});
    }

    static constexpr std::int64_t most_values = std::int64_t(1) << 40;  // of a dictionary: 8 TiB of fingerprints

    // Chunks of one column usually share their dictionary, as one more struct over the very same buffers.
    static bool same_memory(const ArrowArray& a, const ArrowArray& b) noexcept {
        return a.length == b.length && a.offset == b.offset && a.n_buffers == b.n_buffers &&
               std::equal(a.buffers, a.buffers + a.n_buffers, b.buffers);
    }

    std::shared_ptr<const Table> tabulate(const ArrowArray& dictionary) const {
        auto table = std::make_shared<Table>();
        const auto count = static_cast<std::size_t>(dictionary.length);
        const ArrowBroken too_long{"its dictionary is longer than memory can hold"};
        if (dictionary.length > most_values) throw too_long;
        try {
            table->fingerprints.resize(count);
            table->reasons.resize(count, Reason::none);
        } catch (const std::bad_alloc&) {
            throw too_long;
        }
        read_values(dictionary, type_->values, *keys_, 0, dictionary.length, table->fingerprints.data(),
                    [&table](std::int64_t i, Reason reason) -> std::uint64_t {
                        table->reasons[static_cast<std::size_t>(i)] = reason;
                        return 0;
                    });
        for (std::int64_t i = 0; (i = next_null(dictionary, i, dictionary.length)) < dictionary.length; ++i)
            table->reasons[static_cast<std::size_t>(i)] = Reason::null;
        return table;
    }

    void look_up(const Chunk& chunk, std::int64_t first, std::int64_t count, std::int64_t row,
                 std::uint64_t* out) const {
        const Table& table = *chunk.table;
        // An index of 2^63 or more is outside any dictionary, so the check below can handle it.
        read_integers(*chunk.array, *type_->indices, first, count, out,
                      [](std::int64_t, std::uint64_t value) { return value; });
        for (std::int64_t i = 0; i < count; ++i) {
            const std::uint64_t index = out[i];  // a negative one is huge
            if (index >= table.fingerprints.size()) throw RowRefused{row + i, Reason::malformed};
            if (table.reasons[index] != Reason::none) throw RowRefused{row + i, table.reasons[index]};
            out[i] = table.fingerprints[index];
        }
    }

    static void refuse_nulls(const ArrowArray& array, std::int64_t first, std::int64_t count, std::int64_t row) {
        const std::int64_t null = next_null(array, first, first + count);
        if (null < first + count) throw RowRefused{row + (null - first), Reason::null};
    }

    std::vector<Chunk>::const_iterator chunk_of(std::int64_t row) const {
        const auto before = [](std::int64_t wanted, const Chunk& chunk) { return wanted < chunk.first_row; };
        const auto after = std::upper_bound(chunks_.begin(), chunks_.end(), row, before);
        return after == chunks_.begin() ? chunks_.end() : after - 1;
    }

    template <class Visit>
    void for_chunks(std::int64_t start, std::int64_t stop, Visit visit) const {
        auto chunk = chunk_of(start);
        for (std::int64_t row = start; row < stop; ++chunk) {
            const std::int64_t first = row - chunk->first_row;
            const std::int64_t count = std::min(stop - row, chunk->array->length - first);
            visit(*chunk, first, count, row);
            row += count;
        }
    }

    static ArrowBroken failed(Owned<ArrowArrayStream>& stream, int code) {
        const char* text = stream->get_last_error(stream.get());
        return ArrowBroken{"its Arrow stream failed with code " + std::to_string(code) +
                           (text == nullptr ? std::string() : ": " + std::string(text))};
    }

    std::shared_ptr<const KeySet> keys_;
    std::optional<ColumnType> type_;
    std::vector<Chunk> chunks_;
    std::int64_t length_ = 0;
};

}  // namespace stablesketch
