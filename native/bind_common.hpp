// What several binding files need: the bytes of a key, a law and a tier by their names, arrays that keep a vector.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "entry_law.hpp"
#include "kernel.hpp"

struct KeyBytes {
    std::uint8_t bytes[16];
    explicit KeyBytes(const nanobind::bytes& key) {
        if (key.size() != 16) throw nanobind::value_error("an AES-128 key has 16 bytes");
        std::memcpy(bytes, key.c_str(), 16);
    }
    ~KeyBytes() {
        volatile std::uint8_t* wipe = bytes;
        for (int i = 0; i < 16; ++i) wipe[i] = 0;
    }
    KeyBytes(const KeyBytes&) = delete;
    KeyBytes& operator=(const KeyBytes&) = delete;
};

// A law as Python has it, and as the core has it.
using NamedLaw = std::pair<std::string, double>;
inline stablesketch::EntryLaw entry_law(const NamedLaw& law) {
    using stablesketch::LawKind;
    const auto& [kind, p] = law;
    if (kind == "symmetric") return {LawKind::symmetric, p};
    if (kind == "one-sided") return {LawKind::one_sided, p};
    if (kind == "entropy") return {LawKind::entropy, p};
    throw nanobind::value_error("no such law");
}

inline const stablesketch::Tier& tier_named(const std::string& name) {
    for (const stablesketch::Tier& tier : stablesketch::tiers())
        if (tier.name == name) return tier;
    throw nanobind::value_error("no such tier on this machine");
}

// The vector as an array of numpy, which keeps it.
template <class T>
nanobind::object given(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    const nanobind::capsule owner(kept, [](void* held) noexcept { delete static_cast<std::vector<T>*>(held); });
    return nanobind::cast(
        nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>(kept->data(), {kept->size()}, owner));
}
