// Vectors of the benches: generated from a seed, or read from a file of f32 rows. Ends the program if a file is too short or cannot be written.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace gannet::bench {

struct Rows {
  uint32_t dimensions;
  std::vector<float> values;
  std::span<const float> of(size_t i) const { return std::span(values).subspan(i * dimensions, dimensions); }
};

// Generates vectors around centres that lie in a space of fewer dimensions, as the vectors of texts do.
inline Rows Made(size_t count, uint32_t dimensions, uint32_t seed) {
  constexpr uint32_t kInner = 24;
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  const auto values = [&](size_t size) {
    std::vector<float> made(size);
    for (float& value : made) value = normal(random);
    return made;
  };
  const size_t centres = count / 100 + 1;
  const std::vector<float> basis = values(static_cast<size_t>(kInner) * dimensions);
  const std::vector<float> centre = values(centres * kInner);
  Rows rows{dimensions, std::vector<float>(count * dimensions)};
  for (size_t i = 0; i < count; ++i) {
    const size_t of = random() % centres;
    float inner[kInner];
    for (uint32_t j = 0; j < kInner; ++j) inner[j] = centre[of * kInner + j] + 0.6f * normal(random);
    for (uint32_t d = 0; d < dimensions; ++d) {
      float sum = 0.44f * normal(random);
      for (uint32_t j = 0; j < kInner; ++j) sum += inner[j] * basis[j * dimensions + d];
      rows.values[i * dimensions + d] = sum;
    }
  }
  return rows;
}

inline Rows ReadRows(const char* path, size_t count, uint32_t dimensions) {
  Rows rows{dimensions, std::vector<float>(count * dimensions)};
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path, "rb"), std::fclose);
  if (!file || std::fread(rows.values.data(), sizeof(float), rows.values.size(), file.get()) != rows.values.size()) {
    std::fprintf(stderr, "%s has fewer than %zu rows of %u floats\n", path, count, dimensions);
    std::exit(1);
  }
  return rows;
}

inline void WriteRows(const std::string& path, const Rows& rows) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "wb"), std::fclose);
  if (!file || std::fwrite(rows.values.data(), sizeof(float), rows.values.size(), file.get()) != rows.values.size()) {
    std::fprintf(stderr, "%s cannot be written\n", path.c_str());
    std::exit(1);
  }
}

}  // namespace gannet::bench
