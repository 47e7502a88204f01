// Computes the optimal string alignment distance over code points with the textbook's table.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gannet::test {

inline std::u32string CodePointsOf(std::string_view text) {
  std::u32string points;
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    char32_t point = length == 1 ? lead : lead & (0x7f >> length);
    for (size_t j = 1; j < length; ++j) point = point << 6 | (static_cast<unsigned char>(text[i + j]) & 0x3f);
    points.push_back(point);
    i += length;
  }
  return points;
}

inline uint32_t EditDistance(std::string_view left, std::string_view right) {
  const std::u32string a = CodePointsOf(left);
  const std::u32string b = CodePointsOf(right);
  std::vector<std::vector<uint32_t>> table(a.size() + 1, std::vector<uint32_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = static_cast<uint32_t>(i + j);
        continue;
      }
      uint32_t best = std::min(table[i - 1][j] + 1, table[i][j - 1] + 1);
      best = std::min(best, table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        best = std::min(best, table[i - 2][j - 2] + 1);
      table[i][j] = best;
    }
  }
  return table[a.size()][b.size()];
}

}  // namespace gannet::test
