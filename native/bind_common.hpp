// What several binding files need: the bytes of a secret key, a tier by its name, and arrays that keep a vector.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

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
    return nanobind::cast(nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>(kept->data(), {kept->size()}, owner));
}
