// Python's view of the fingerprints: thin methods that check shapes, release the interpreter lock and call the loops.
// Results go into an array made by the caller, so that memory has one owner and one policy.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "arrow_column.hpp"
#include "fingerprint.hpp"

namespace nb = nanobind;
using namespace stablesketch;

namespace {

using Out = nb::ndarray<std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Unsigned = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Signed = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using TextRows = nb::ndarray<const std::uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using ByteRows = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Made once when the module is loaded and never freed: the translator below may need them at any time after.
PyObject* row_error = nullptr;
PyObject* format_error = nullptr;
PyObject* arrow_error = nullptr;

const char* words(Reason reason) {
    switch (reason) {
        case Reason::null: return "null";
        case Reason::part_of_day: return "part of a day";
        case Reason::not_unicode: return "not unicode";
        case Reason::too_large: return "too large";
        default: return "malformed";
    }
}

// Takes the reference `arguments` and sets the error; a null means that making the arguments failed and set its own.
void set_error(PyObject* type, PyObject* arguments) {
    if (arguments == nullptr) return;
    PyErr_SetObject(type, arguments);
    Py_DECREF(arguments);
}

void translate(const std::exception_ptr& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (const RowRefused& e) {
        set_error(row_error, Py_BuildValue("(LsK)", static_cast<long long>(e.row), words(e.reason),
                                           static_cast<unsigned long long>(e.value)));
    } catch (const FormatRefused& e) {
        set_error(format_error,
                  Py_BuildValue("(ssO)", e.format.c_str(), e.extension.c_str(), e.dictionary ? Py_True : Py_False));
    } catch (const ArrowBroken& e) {
        set_error(arrow_error, Py_BuildValue("(s)", e.problem.c_str()));
    }
}

void check_rows(std::size_t rows, const Out& out) {
    if (rows != out.shape(0)) throw nb::value_error("the result array has another number of rows than the input");
}

// One Python object that the native loop knows by itself: int, str or bytes. False: ask Python.
bool fingerprint_known(const KeySet& keys, PyObject* item, std::vector<std::uint8_t>& scratch, std::uint64_t& out) {
    if (PyLong_Check(item) && !PyBool_Check(item)) {
        int overflow = 0;
        const long long value = PyLong_AsLongLongAndOverflow(item, &overflow);
        if (overflow == 0) {
            out = static_cast<std::uint64_t>(value);
            return true;
        }
        if (overflow < 0) return false;
        const unsigned long long large = PyLong_AsUnsignedLongLong(item);
        if (large == static_cast<unsigned long long>(-1) && PyErr_Occurred() != nullptr) {
            PyErr_Clear();
            return false;
        }
        out = keys.integer(large);
        return true;
    }
    if (PyUnicode_Check(item)) {
        const auto length = static_cast<std::size_t>(PyUnicode_GET_LENGTH(item));
        const void* data = PyUnicode_DATA(item);
        if (PyUnicode_IS_ASCII(item)) {
            out = keys.bytes(Domain::text, static_cast<const std::uint8_t*>(data), length);
            return true;
        }
        // Not PyUnicode_AsUTF8: that would leave a second copy of the text in every object for as long as it lives.
        std::size_t written = 0;
        bool whole = false;
        switch (PyUnicode_KIND(item)) {
            case PyUnicode_1BYTE_KIND:
                whole = to_utf8(static_cast<const Py_UCS1*>(data), length, scratch, written);
                break;
            case PyUnicode_2BYTE_KIND:
                whole = to_utf8(static_cast<const Py_UCS2*>(data), length, scratch, written);
                break;
            default: whole = to_utf8(static_cast<const Py_UCS4*>(data), length, scratch, written); break;
        }
        if (whole) out = keys.bytes(Domain::text, scratch.data(), written);
        return whole;
    }
    if (PyBytes_Check(item)) {
        out = keys.bytes(Domain::bytes, reinterpret_cast<const std::uint8_t*>(PyBytes_AS_STRING(item)),
                         static_cast<std::size_t>(PyBytes_GET_SIZE(item)));
        return true;
    }
    return false;
}

class KeyHasher {
  public:
    explicit KeyHasher(const nb::bytes& material) {
        if (material.size() != material_bytes) throw nb::value_error("the key material has the wrong length");
        keys_ = std::make_shared<const KeySet>(reinterpret_cast<const std::uint8_t*>(material.c_str()));
    }

    std::shared_ptr<const KeySet> keys() const { return keys_; }

    void unsigned_integers(const Unsigned& values, const Out& out) const {
        check_rows(values.shape(0), out);
        nb::gil_scoped_release unlocked;
        for (std::size_t i = 0; i < values.shape(0); ++i) out.data()[i] = keys_->integer(values.data()[i]);
    }

    void days(const Signed& values, const Out& out) const {
        check_rows(values.shape(0), out);
        nb::gil_scoped_release unlocked;
        for (std::size_t i = 0; i < values.shape(0); ++i) out.data()[i] = keys_->day(values.data()[i]);
    }

    void naive_ticks(const Signed& values, std::int64_t nanoseconds_per_tick, const Out& out) const {
        check_rows(values.shape(0), out);
        nb::gil_scoped_release unlocked;
        for (std::size_t i = 0; i < values.shape(0); ++i)
            out.data()[i] = keys_->tick(Domain::naive, values.data()[i], nanoseconds_per_tick);
    }

    void text_rows(const TextRows& rows, const Out& out) const {
        check_rows(rows.shape(0), out);
        nb::gil_scoped_release unlocked;
        fingerprint_ucs4(*keys_, rows.data(), rows.shape(0), rows.shape(1), out.data());
    }

    void byte_rows(const ByteRows& rows, const Out& out) const {
        check_rows(rows.shape(0), out);
        nb::gil_scoped_release unlocked;
        fingerprint_padded(*keys_, rows.data(), rows.shape(0), rows.shape(1), out.data());
    }

    void tuples(const nb::list& components, const Out& out) const {
        std::vector<Unsigned> held;
        std::vector<const std::uint64_t*> columns;
        for (nb::handle component : components) {
            held.push_back(nb::cast<Unsigned>(component, false));
            check_rows(held.back().shape(0), out);
            columns.push_back(held.back().data());
        }
        nb::gil_scoped_release unlocked;
        fingerprint_tuples(*keys_, columns, out.shape(0), out.data());
    }

    // Nobody else holds the list `items`. For anything but int, str or bytes, `canonical(item, i)` returns an int or a
    // (domain, bytes) pair, or raises an error.
    void objects(const nb::list& items, const nb::callable& canonical, const Out& out) const {
        check_rows(items.size(), out);
        std::vector<std::uint8_t> scratch;
        for (std::size_t i = 0; i < items.size(); ++i) {
            nb::object item = nb::borrow(PyList_GET_ITEM(items.ptr(), static_cast<Py_ssize_t>(i)));
            std::uint64_t& result = out.data()[i];
            if (fingerprint_known(*keys_, item.ptr(), scratch, result)) continue;
            nb::object form = canonical(item, i);
            if (fingerprint_known(*keys_, form.ptr(), scratch, result)) continue;
            const auto pair = nb::cast<nb::tuple>(form);
            const auto domain = nb::cast<std::size_t>(pair[0]);
            const auto bytes = nb::cast<nb::bytes>(pair[1]);
            if (pair.size() != 2 || domain >= domain_count)
                throw nb::value_error("canonical() gave no domain and bytes");
            result = keys_->bytes(static_cast<Domain>(domain), reinterpret_cast<const std::uint8_t*>(bytes.c_str()),
                                  bytes.size());
        }
    }

  private:
    std::shared_ptr<const KeySet> keys_;
};

// The integers of a list of Python ints within [low, high]; `other(item, i)` gives an int for the rest, or raises.
void list_integers(const nb::list& items, std::int64_t low, std::int64_t high, const nb::callable& other,
                   const Out& out) {
    check_rows(items.size(), out);
    for (std::size_t i = 0; i < items.size(); ++i) {
        nb::object item = nb::borrow(PyList_GET_ITEM(items.ptr(), static_cast<Py_ssize_t>(i)));
        if (PyLong_CheckExact(item.ptr())) {
            int overflow = 0;
            const long long value = PyLong_AsLongLongAndOverflow(item.ptr(), &overflow);
            if (overflow == 0 && value >= low && value <= high) {
                out.data()[i] = static_cast<std::uint64_t>(value);
                continue;
            }
        }
        out.data()[i] = static_cast<std::uint64_t>(nb::cast<std::int64_t>(other(item, i)));
    }
}

template <class T>
Owned<T> take(nb::handle capsule, const char* name) {
    auto* source = static_cast<T*>(PyCapsule_GetPointer(capsule.ptr(), name));
    if (source == nullptr) {
        PyErr_Clear();
        throw ArrowBroken{"it did not give the capsule that the Arrow interface asks for"};
    }
    if (source->release == nullptr) throw ArrowBroken{"its Arrow data has been consumed already"};
    return Owned<T>(*source);
}

std::shared_ptr<const KeySet> keys_of(const KeyHasher* hasher) { return hasher ? hasher->keys() : nullptr; }

// Producers may run Python code of their own, even in other threads, so the interpreter lock must be free.
ArrowColumn* from_stream(nb::handle stream, const KeyHasher* hasher) {
    auto taken = take<ArrowArrayStream>(stream, "arrow_array_stream");
    nb::gil_scoped_release unlocked;
    return new ArrowColumn(std::move(taken), keys_of(hasher));
}

ArrowColumn* from_array(nb::handle schema, nb::handle array, const KeyHasher* hasher) {
    auto taken_schema = take<ArrowSchema>(schema, "arrow_schema");
    auto taken_array = take<ArrowArray>(array, "arrow_array");
    nb::gil_scoped_release unlocked;
    return new ArrowColumn(std::move(taken_schema), std::move(taken_array), keys_of(hasher));
}

void check_range(const ArrowColumn& column, std::int64_t start, std::int64_t stop) {
    if (start < 0 || stop < start || stop > column.length()) throw nb::index_error("rows outside the column");
}

void arrow_fingerprints(const ArrowColumn& column, std::int64_t start, std::int64_t stop, const Out& out) {
    check_range(column, start, stop);
    check_rows(static_cast<std::size_t>(stop - start), out);
    nb::gil_scoped_release unlocked;
    column.fingerprints(start, stop, out.data());
}

void arrow_integers(const ArrowColumn& column, std::int64_t start, std::int64_t stop, const Out& out) {
    check_range(column, start, stop);
    check_rows(static_cast<std::size_t>(stop - start), out);
    nb::gil_scoped_release unlocked;
    column.integers(start, stop, out.data());
}

nb::object arrow_view(nb::handle self, std::int64_t start, std::int64_t stop) {
    const auto& column = nb::cast<const ArrowColumn&>(self);
    check_range(column, start, stop);
    const std::uint64_t* rows = nullptr;
    {
        nb::gil_scoped_release unlocked;
        rows = column.view(start, stop);
    }
    if (rows == nullptr) return nb::none();
    using View = nb::ndarray<nb::numpy, const std::uint64_t, nb::ndim<1>>;
    return nb::cast(View(rows, {static_cast<std::size_t>(stop - start)}, self));
}

std::uint64_t siphash13_of(const nb::bytes& key, const nb::bytes& message) {
    if (key.size() != 16) throw nb::value_error("a SipHash key has 16 bytes");
    const auto* k = reinterpret_cast<const std::uint8_t*>(key.c_str());
    return siphash13({load_word(k), load_word(k + 8)}, reinterpret_cast<const std::uint8_t*>(message.c_str()),
                     message.size());
}

PyObject* new_exception(nb::module_& m, const char* name, const char* qualified) {
    PyObject* type = PyErr_NewException(qualified, PyExc_Exception, nullptr);
    if (type == nullptr) throw nb::python_error();
    m.attr(name) = nb::borrow(type);
    return type;
}

}  // namespace

void bind_keys(nb::module_& m) {
    row_error = new_exception(m, "RowError", "stablesketch._native.RowError");
    format_error = new_exception(m, "FormatError", "stablesketch._native.FormatError");
    arrow_error = new_exception(m, "ArrowError", "stablesketch._native.ArrowError");
    nb::register_exception_translator(translate);

    m.attr("FINGERPRINT_KEY_BYTES") = material_bytes;
    m.def("siphash13", &siphash13_of, nb::arg("key"), nb::arg("message"));
    m.def("list_integers", &list_integers, nb::arg("items"), nb::arg("low"), nb::arg("high"), nb::arg("other"),
          nb::arg("out").noconvert());

    nb::class_<KeyHasher>(m, "KeyHasher")
        .def(nb::init<const nb::bytes&>(), nb::arg("material"))
        .def("unsigned_integers", &KeyHasher::unsigned_integers, nb::arg("values").noconvert(),
             nb::arg("out").noconvert())
        .def("days", &KeyHasher::days, nb::arg("values").noconvert(), nb::arg("out").noconvert())
        .def("naive_ticks", &KeyHasher::naive_ticks, nb::arg("values").noconvert(), nb::arg("nanoseconds_per_tick"),
             nb::arg("out").noconvert())
        .def("text_rows", &KeyHasher::text_rows, nb::arg("rows").noconvert(), nb::arg("out").noconvert())
        .def("byte_rows", &KeyHasher::byte_rows, nb::arg("rows").noconvert(), nb::arg("out").noconvert())
        .def("tuples", &KeyHasher::tuples, nb::arg("components"), nb::arg("out").noconvert())
        .def("objects", &KeyHasher::objects, nb::arg("items"), nb::arg("canonical"), nb::arg("out").noconvert());

    constexpr auto owned = nb::rv_policy::take_ownership;
    nb::class_<ArrowColumn>(m, "ArrowColumn")
        .def_static("from_stream", &from_stream, nb::arg("stream"), nb::arg("hasher").none(), owned)
        .def_static("from_array", &from_array, nb::arg("schema"), nb::arg("array"), nb::arg("hasher").none(), owned)
        .def("__len__", &ArrowColumn::length)
        .def("fingerprints", &arrow_fingerprints, nb::arg("start"), nb::arg("stop"), nb::arg("out").noconvert())
        .def("integers", &arrow_integers, nb::arg("start"), nb::arg("stop"), nb::arg("out").noconvert())
        .def("view", &arrow_view, nb::arg("start"), nb::arg("stop"));
}
