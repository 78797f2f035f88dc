// What several binding files need: the bytes of a secret key, and a tier by its name.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <cstring>
#include <string>

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
