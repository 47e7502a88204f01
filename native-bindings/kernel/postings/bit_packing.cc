#include "bit_packing.h"

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include <array>
#include <cstring>
#include <utility>

#include "../common/bits.h"
#include "../common/bytes.h"
#include "../common/simd.h"

namespace gannet {
namespace {

constexpr unsigned kRows = 32;  // of four values

// Four values, by the compiler's own vectors: SSE2 on x86-64, NEON on arm64.
using Lanes = uint32_t __attribute__((vector_size(16)));

inline Lanes InAll(uint32_t value) { return Lanes{value, value, value, value}; }
inline Lanes LoadLanes(const uint8_t* bytes) { return Load<Lanes>(bytes); }
inline void StoreLanes(Lanes lanes, uint32_t* out) { std::memcpy(out, &lanes, sizeof lanes); }

// Each lane moved up, with zeros below.
template <unsigned kCount>
inline Lanes MovedUp(Lanes lanes) {
#if defined(__x86_64__)
  // Of a shuffle with zeros, compilers make more than the one instruction that there is for it.
  return reinterpret_cast<Lanes>(_mm_slli_si128(reinterpret_cast<__m128i>(lanes), 4 * kCount));
#elif defined(__aarch64__)
  return reinterpret_cast<Lanes>(vextq_u32(vdupq_n_u32(0), reinterpret_cast<uint32x4_t>(lanes), 4 - kCount));
#else
  if constexpr (kCount == 1) return Lanes{0, lanes[0], lanes[1], lanes[2]};
  return Lanes{0, 0, lanes[0], lanes[1]};
#endif
}

template <unsigned kWidth, unsigned kRow>
inline Lanes UnpackRow(const uint8_t* bytes) {
  constexpr unsigned bit = kRow * kWidth;
  constexpr unsigned word = bit / 32;
  constexpr unsigned shift = bit % 32;
  Lanes value = LoadLanes(bytes + 16 * word) >> shift;
  if constexpr (shift + kWidth > 32) value |= LoadLanes(bytes + 16 * (word + 1)) << (32 - shift);
  if constexpr (kWidth < 32 && shift + kWidth != 32) value &= InAll((1u << kWidth) - 1);
  return value;
}

template <unsigned kWidth, unsigned... kRow>
inline void UnpackRows(const uint8_t* bytes, Lanes added, uint32_t* out, std::integer_sequence<unsigned, kRow...>) {
  if constexpr (kWidth == 0) {
    (StoreLanes(added, out + 4 * kRow), ...);
  } else {
    (StoreLanes(UnpackRow<kWidth, kRow>(bytes) + added, out + 4 * kRow), ...);
  }
}

template <unsigned kWidth>
void Unpack(const uint8_t* bytes, uint32_t addend, uint32_t* out) {
  UnpackRows<kWidth>(bytes, InAll(addend), out, std::make_integer_sequence<unsigned, kRows>{});
}

// Writes the sums of four lanes and one each on top of the last of `previous`, and returns them.
inline Lanes StoreSums(Lanes deltas, Lanes previous, uint32_t* out) {
  deltas += InAll(1);
  deltas += MovedUp<1>(deltas);
  deltas += MovedUp<2>(deltas);
  deltas += InAll(previous[3]);
  StoreLanes(deltas, out);
  return deltas;
}

template <unsigned kWidth, unsigned... kRow>
inline void UnpackDeltaRows(const uint8_t* bytes, Lanes previous, uint32_t* out, std::integer_sequence<unsigned, kRow...>) {
  if constexpr (kWidth == 0) {
    ((previous = StoreSums(Lanes{}, previous, out + 4 * kRow)), ...);
  } else {
    ((previous = StoreSums(UnpackRow<kWidth, kRow>(bytes), previous, out + 4 * kRow)), ...);
  }
}

template <unsigned kWidth>
void UnpackDeltas(const uint8_t* bytes, uint32_t previous, uint32_t* out) {
  UnpackDeltaRows<kWidth>(bytes, InAll(previous), out, std::make_integer_sequence<unsigned, kRows>{});
}

// By width: unpacks a block, and adds a number to each value, or to the sums of all before.
using UnpackTable = std::array<void (*)(const uint8_t*, uint32_t, uint32_t*), 33>;

template <unsigned... kWidth>
constexpr auto MakeUnpackTable(std::integer_sequence<unsigned, kWidth...>) {
  return UnpackTable{&Unpack<kWidth>...};
}
template <unsigned... kWidth>
constexpr auto MakeDeltaTable(std::integer_sequence<unsigned, kWidth...>) {
  return UnpackTable{&UnpackDeltas<kWidth>...};
}

void UnpackBitsetBaseline(const uint8_t* bytes, size_t words, uint32_t first, uint32_t* out) {
  for (size_t word = 0; word < words; ++word, first += 64) {
    for (uint64_t bits = Load<uint64_t>(bytes + 8 * word); bits != 0; bits &= bits - 1) {
      *out++ = first + static_cast<uint32_t>(std::countr_zero(bits));
    }
  }
}

#if defined(__x86_64__)

__attribute__((target("avx512f,popcnt"))) void UnpackBitsetAvx512(const uint8_t* bytes, size_t words, uint32_t first,
                                                                  uint32_t* out) {
  const __m512i steps = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  for (size_t part = 0; part < 4 * words; ++part, first += 16) {
    const auto mask = Load<uint16_t>(bytes + 2 * part);
    const auto count = static_cast<unsigned>(__builtin_popcount(mask));
    const __m512i values = _mm512_add_epi32(steps, _mm512_set1_epi32(static_cast<int>(first)));
    const auto written = static_cast<__mmask16>((1u << count) - 1);
    _mm512_mask_storeu_epi32(out, written, _mm512_maskz_compress_epi32(mask, values));
    out += count;
  }
}

#define GANNET_VECTORS __attribute__((target("avx512f,avx512bw")))

// Wider values are rare, and four rows of them lie in up to five words; of these widths, in three.
constexpr unsigned kVectorWidthMax = 16;
// Some compilers take what the forms without a mask are made of for uninitialised.
constexpr __mmask16 kAll = 0xffff;

template <unsigned kWidth, unsigned kRow>
constexpr unsigned kWordOf = kRow * kWidth / 32;

// The lanes of those of four rows from kFirst on that begin in a word, or end in it without having begun there.
template <unsigned kWidth, unsigned kFirst, bool kEnd>
constexpr __mmask16 RowsIn(unsigned word) {
  unsigned lanes = 0;
  for (unsigned row = 0; row < 4; ++row) {
    const unsigned begin = (kFirst + row) * kWidth;
    const unsigned end = begin + kWidth - 1;
    const bool is_in = kEnd ? end / 32 == word && begin / 32 != word : begin / 32 == word;
    if (is_in) lanes |= 0xfu << (4 * row);
  }
  return static_cast<__mmask16>(lanes);
}

// Sixteen values: the four rows from kFirst on.
template <unsigned kWidth, unsigned kFirst>
GANNET_VECTORS inline __m512i UnpackFourRows(const __m128i* words) {
  constexpr unsigned begin = kFirst * kWidth % 32;
  const auto shift = [](unsigned row) constexpr { return static_cast<int>((begin + row * kWidth) % 32); };
  constexpr unsigned word = kWordOf<kWidth, kFirst>;
  constexpr unsigned last = kWordOf<kWidth, kFirst + 3>;
  static_assert(((kFirst + 4) * kWidth - 1) / 32 <= word + 2);
  const __m512i shifts = _mm512_setr_epi32(shift(0), shift(0), shift(0), shift(0), shift(1), shift(1), shift(1), shift(1), shift(2),
                                           shift(2), shift(2), shift(2), shift(3), shift(3), shift(3), shift(3));
  const auto load = [words](unsigned index) { return _mm_loadu_si128(words + index); };
  __m512i low = _mm512_maskz_broadcast_i32x4(kAll, load(word));
  if constexpr (last > word) {
    low = _mm512_mask_broadcast_i32x4(low, RowsIn<kWidth, kFirst, false>(word + 1), load(word + 1));
  }
  if constexpr (last > word + 1) {
    low = _mm512_mask_broadcast_i32x4(low, RowsIn<kWidth, kFirst, false>(word + 2), load(word + 2));
  }
  __m512i values = _mm512_maskz_srlv_epi32(kAll, low, shifts);
  constexpr __mmask16 first_crossing = RowsIn<kWidth, kFirst, true>(word + 1);
  constexpr __mmask16 second_crossing = RowsIn<kWidth, kFirst, true>(word + 2);
  if constexpr ((first_crossing | second_crossing) != 0) {
    __m512i high = _mm512_setzero_si512();
    if constexpr (first_crossing != 0) high = _mm512_mask_broadcast_i32x4(high, first_crossing, load(word + 1));
    if constexpr (second_crossing != 0) high = _mm512_mask_broadcast_i32x4(high, second_crossing, load(word + 2));
    // A shift by 32 leaves nothing.
    const __m512i rest = _mm512_sub_epi32(_mm512_set1_epi32(32), shifts);
    values = _mm512_or_si512(values, _mm512_maskz_sllv_epi32(kAll, high, rest));
  }
  return _mm512_and_si512(values, _mm512_set1_epi32(static_cast<int>((1u << kWidth) - 1)));
}

template <unsigned kWidth, unsigned... kGroup>
GANNET_VECTORS inline void UnpackGroups(const uint8_t* bytes, uint32_t addend, uint32_t* out,
                                        std::integer_sequence<unsigned, kGroup...>) {
  const auto* words = reinterpret_cast<const __m128i*>(bytes);
  const __m512i added = _mm512_set1_epi32(static_cast<int>(addend));
  (_mm512_storeu_si512(out + 16 * kGroup, _mm512_add_epi32(UnpackFourRows<kWidth, 4 * kGroup>(words), added)), ...);
}

// Sums of sixteen values and one each, from the first on.
GANNET_VECTORS inline __m512i SumUp(__m512i values) {
  const __m512i fourth = _mm512_setr_epi32(0, 0, 0, 0, 3, 3, 3, 3, 0, 0, 0, 0, 11, 11, 11, 11);
  // Of two neighbours, of four, of eight, of sixteen.
  __m512i sums = _mm512_add_epi32(values, _mm512_set1_epi32(1));
  sums = _mm512_add_epi32(sums, _mm512_bslli_epi128(sums, 4));
  sums = _mm512_add_epi32(sums, _mm512_bslli_epi128(sums, 8));
  sums = _mm512_add_epi32(sums, _mm512_maskz_permutexvar_epi32(0xf0f0, fourth, sums));
  return _mm512_add_epi32(sums, _mm512_maskz_permutexvar_epi32(0xff00, _mm512_set1_epi32(7), sums));
}

// Writes sixteen sums on top of `before`, and returns the last of them in all lanes.
GANNET_VECTORS inline __m512i StoreSums(__m512i values, __m512i before, uint32_t* out) {
  const __m512i sums = SumUp(values);
  _mm512_storeu_si512(out, _mm512_add_epi32(sums, before));
  return _mm512_add_epi32(before, _mm512_maskz_permutexvar_epi32(kAll, _mm512_set1_epi32(15), sums));
}

// Sixteen at a time, so that a sum waits for eight others before it instead of thirty-two: who decodes a block mostly looks for
// something in it at once.
template <unsigned kWidth, unsigned... kGroup>
GANNET_VECTORS inline void UnpackDeltaGroups(const uint8_t* bytes, uint32_t previous, uint32_t* out,
                                             std::integer_sequence<unsigned, kGroup...>) {
  const auto* words = reinterpret_cast<const __m128i*>(bytes);
  __m512i before = _mm512_set1_epi32(static_cast<int>(previous));
  ((before = StoreSums(UnpackFourRows<kWidth, 4 * kGroup>(words), before, out + 16 * kGroup)), ...);
}

template <unsigned kWidth>
GANNET_VECTORS void UnpackAvx512(const uint8_t* bytes, uint32_t addend, uint32_t* out) {
  UnpackGroups<kWidth>(bytes, addend, out, std::make_integer_sequence<unsigned, kRows / 4>{});
}

template <unsigned kWidth>
GANNET_VECTORS void UnpackDeltasAvx512(const uint8_t* bytes, uint32_t previous, uint32_t* out) {
  UnpackDeltaGroups<kWidth>(bytes, previous, out, std::make_integer_sequence<unsigned, kRows / 4>{});
}

#undef GANNET_VECTORS

template <unsigned... kWidth>
void SetVectorWidths(UnpackTable* unpack, UnpackTable* deltas, std::integer_sequence<unsigned, kWidth...>) {
  (((*unpack)[kWidth + 1] = &UnpackAvx512<kWidth + 1>), ...);
  (((*deltas)[kWidth + 1] = &UnpackDeltasAvx512<kWidth + 1>), ...);
}

#endif

struct Functions {
  decltype(&UnpackBitsetBaseline) unpack_bitset = UnpackBitsetBaseline;
  UnpackTable unpack_block = MakeUnpackTable(std::make_integer_sequence<unsigned, 33>{});
  UnpackTable unpack_block_deltas = MakeDeltaTable(std::make_integer_sequence<unsigned, 33>{});
};

const Functions kFunctions = [] {
  Functions functions;
#if defined(__x86_64__)
  const InstructionSets sets = ProcessorInstructionSets();
  if (sets.avx512f) functions.unpack_bitset = UnpackBitsetAvx512;
  if (sets.avx512f && sets.avx512bw) {
    SetVectorWidths(&functions.unpack_block, &functions.unpack_block_deltas, std::make_integer_sequence<unsigned, kVectorWidthMax>{});
  }
#endif
  return functions;
}();

}  // namespace

void UnpackBitset(const uint8_t* bytes, size_t words, uint32_t first, uint32_t* out) {
  kFunctions.unpack_bitset(bytes, words, first, out);
}

void PackBlock(const uint32_t* values, unsigned width, uint8_t* out) {
  if (width == 0) return;
  std::memset(out, 0, 16 * width);
  for (unsigned row = 0; row < kRows; ++row) {
    const unsigned bit = row * width;
    const unsigned word = bit / 32;
    const unsigned shift = bit % 32;
    for (unsigned lane = 0; lane < 4; ++lane) {
      const uint64_t value = static_cast<uint64_t>(values[4 * row + lane]) << shift;
      uint8_t* low = out + 16 * word + 4 * lane;
      Store(low, Load<uint32_t>(low) | static_cast<uint32_t>(value));
      if (shift + width > 32) Store(low + 16, static_cast<uint32_t>(value >> 32));
    }
  }
}

void UnpackBlock(const uint8_t* bytes, unsigned width, uint32_t addend, uint32_t* out) {
  kFunctions.unpack_block[width](bytes, addend, out);
}

void UnpackBlockDeltas(const uint8_t* bytes, unsigned width, uint32_t previous, uint32_t* out) {
  kFunctions.unpack_block_deltas[width](bytes, previous, out);
}

uint64_t SumBlock(const uint8_t* bytes, unsigned width, uint32_t count) {
  if (width == 0) return 0;
  if (width > 2) {
    uint32_t values[kRows * 4];
    UnpackBlock(bytes, width, 0, values);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; ++i) sum += values[i];
    return sum;
  }
  // One bit a value, or two: those of two lanes at a time, a word after the other.
  const auto rows = [&](uint32_t lane) { return count / 4 + (lane < count % 4 ? 1 : 0); };
  const uint32_t rows_per_word = 32 / width;
  uint64_t sum = 0;
  for (uint32_t word = 0; word < width; ++word) {
    const uint32_t before = word * rows_per_word;
    const auto mask = [&](uint32_t lane) {
      const uint32_t used = std::min(std::max(rows(lane), before) - before, rows_per_word) * width;
      return (uint64_t{1} << used) - 1;
    };
    for (uint32_t lane = 0; lane < 4; lane += 2) {
      const uint64_t packed = Load<uint64_t>(bytes + 16 * word + 4 * lane) & (mask(lane) | mask(lane + 1) << 32);
      if (width == 1) {
        sum += PopCount(packed);
      } else {
        constexpr uint64_t kLowBits = 0x5555555555555555;
        sum += PopCount(packed & kLowBits) + 2 * PopCount(packed & ~kLowBits);
      }
    }
  }
  return sum;
}

uint32_t BlockValue(const uint8_t* bytes, unsigned width, uint32_t index) {
  if (width == 0) return 0;
  const unsigned bit = index / 4 * width;
  const uint8_t* at = bytes + 16 * (bit / 32) + 4 * (index % 4);
  const unsigned shift = bit % 32;
  uint64_t packed = Load<uint32_t>(at) >> shift;
  if (shift + width > 32) packed |= uint64_t{Load<uint32_t>(at + 16)} << (32 - shift);
  return static_cast<uint32_t>(packed & ((uint64_t{1} << width) - 1));
}

void AppendPacked(const uint32_t* values, size_t count, unsigned width, std::vector<uint8_t>* out) {
  uint64_t pending = 0;
  unsigned pending_bits = 0;
  for (size_t i = 0; i < count; ++i) {
    pending |= static_cast<uint64_t>(values[i]) << pending_bits;
    pending_bits += width;
    while (pending_bits >= 8) {
      out->push_back(static_cast<uint8_t>(pending));
      pending >>= 8;
      pending_bits -= 8;
    }
  }
  if (pending_bits > 0) out->push_back(static_cast<uint8_t>(pending));
}

void UnpackRange(const uint8_t* bytes, size_t size, uint64_t first, size_t count, unsigned width, uint32_t* out) {
  if (width == 0) {
    std::fill_n(out, count, 0);
    return;
  }
  constexpr size_t kWordBytes = 8;
  const uint64_t mask = (uint64_t{1} << width) - 1;
  uint64_t bit = first * width;
  size_t i = 0;
  // At most 7 + 32 bits are needed, so one 64-bit load is enough, as long as there are so many bytes.
  const uint64_t loadable_bits = size < kWordBytes ? 0 : 8 * (size - kWordBytes + 1);
  if (bit < loadable_bits) {
    const size_t loadable = std::min<uint64_t>(count, (loadable_bits - 1 - bit) / width + 1);
    for (; i < loadable; ++i, bit += width) out[i] = static_cast<uint32_t>((Load<uint64_t>(bytes + bit / 8) >> (bit % 8)) & mask);
  }
  if (i == count) return;
  const size_t rest_bytes = std::min(size, kWordBytes);
  const uint64_t rest_begin = 8 * (size - rest_bytes);
  uint64_t rest = 0;
  if (rest_bytes == kWordBytes) {
    rest = Load<uint64_t>(bytes + size - kWordBytes);
  } else {
    std::memcpy(&rest, bytes, rest_bytes);
  }
  for (; i < count; ++i, bit += width) {
    const uint64_t shift = bit - rest_begin;
    out[i] = shift < 64 ? static_cast<uint32_t>((rest >> shift) & mask) : 0;
  }
}

}  // namespace gannet
