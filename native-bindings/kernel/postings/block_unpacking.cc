// Unpacks blocks of postings with the widest vectors of the processor (common/simd.h).
#include "bit_packing.h"

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
#include "../common/lanes.h"
#include "../common/simd.h"

namespace gannet {
namespace {

// Four values in the compiler's own vector type: SSE2 on x86-64, NEON on arm64.
using Lanes = uint32_t __attribute__((vector_size(16)));

inline Lanes InAll(uint32_t value) { return Lanes{value, value, value, value}; }
inline Lanes LoadLanes(const uint8_t* bytes) { return Load<Lanes>(bytes); }
inline void StoreLanes(Lanes lanes, uint32_t* out) { std::memcpy(out, &lanes, sizeof lanes); }

// Moves each lane up, with zeros below.
template <unsigned kCount>
inline Lanes MovedUp(Lanes lanes) {
#if defined(__x86_64__)
  // Compilers turn a shuffle with zeros into more than this one instruction.
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

// Adds one to each of four lanes, writes their running sums on top of the last of `previous`, and returns them.
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

// By width: functions that unpack a block and add a number to each value, or to the running sums.
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

__attribute__((target("avx2,popcnt"))) void UnpackBitsetAvx2(const uint8_t* bytes, size_t words, uint32_t first, uint32_t* out) {
  const uint32_t* const end = out + CountBits(bytes, words);
  size_t byte = 0;
  for (; byte < 8 * words && end - out >= 8; ++byte, first += 8) out += WriteSetLanes(first, bytes[byte], out);
  for (; byte < 8 * words; ++byte, first += 8) {
    for (unsigned bits = bytes[byte]; bits != 0; bits &= bits - 1) *out++ = first + static_cast<uint32_t>(__builtin_ctz(bits));
  }
}

// Wider values are rare, and four rows of them span up to five words; with these widths, at most three.
constexpr unsigned kVectorWidthMax = 16;

#define GANNET_VECTORS __attribute__((target("avx2")))

GANNET_VECTORS inline __m256i InHalves(int low, int high) {
  return _mm256_setr_epi32(low, low, low, low, high, high, high, high);
}

// Unpacks eight values: the rows kFirst, which is even, and kFirst + 1.
template <unsigned kWidth, unsigned kFirst>
GANNET_VECTORS inline __m256i UnpackTwoRows(const uint8_t* bytes) {
  constexpr unsigned first_shift = kFirst * kWidth % 32;
  constexpr unsigned second_shift = (kFirst + 1) * kWidth % 32;
  constexpr unsigned first_word = kFirst * kWidth / 32;
  constexpr unsigned second_word = (kFirst + 1) * kWidth / 32;
  const uint8_t* const from = bytes + 16 * first_word;
  __m256i values;
  if constexpr (first_word == second_word) {
    values = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  } else {
    values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  values = _mm256_srlv_epi32(values, InHalves(first_shift, second_shift));
  constexpr bool first_crosses = first_shift + kWidth > 32;
  constexpr bool second_crosses = second_shift + kWidth > 32;
  static_assert(!(first_crosses && second_crosses));
  if constexpr (first_crosses) {
    const __m128i rest = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 16));
    values = _mm256_or_si256(values, _mm256_zextsi128_si256(_mm_slli_epi32(rest, 32 - first_shift)));
  } else if constexpr (second_crosses) {
    const __m128i rest = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + 16 * (second_word + 1)));
    const __m128i moved = _mm_slli_epi32(rest, 32 - second_shift);
    values = _mm256_or_si256(values, _mm256_inserti128_si256(_mm256_setzero_si256(), moved, 1));
  }
  return _mm256_and_si256(values, _mm256_set1_epi32(static_cast<int>((1u << kWidth) - 1)));
}

template <unsigned kWidth, unsigned... kPair>
GANNET_VECTORS inline void UnpackPairs(const uint8_t* bytes, uint32_t addend, uint32_t* out, std::integer_sequence<unsigned, kPair...>) {
  const __m256i added = _mm256_set1_epi32(static_cast<int>(addend));
  (_mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 8 * kPair), _mm256_add_epi32(UnpackTwoRows<kWidth, 2 * kPair>(bytes), added)), ...);
}

// Adds one to each of eight values, writes their running sums on top of `before`, and returns the last sum in all
// lanes.
GANNET_VECTORS inline __m256i StoreSums(__m256i values, __m256i before, uint32_t* out) {
  const __m256i upper = _mm256_setr_epi32(0, 0, 0, 0, -1, -1, -1, -1);
  // Sums of two neighbours, of four, of eight.
  __m256i sums = _mm256_add_epi32(values, _mm256_set1_epi32(1));
  sums = _mm256_add_epi32(sums, _mm256_bslli_epi128(sums, 4));
  sums = _mm256_add_epi32(sums, _mm256_bslli_epi128(sums, 8));
  sums = _mm256_add_epi32(sums, _mm256_and_si256(_mm256_permutevar8x32_epi32(sums, _mm256_set1_epi32(3)), upper));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_add_epi32(sums, before));
  return _mm256_add_epi32(before, _mm256_permutevar8x32_epi32(sums, _mm256_set1_epi32(7)));
}

template <unsigned kWidth, unsigned... kPair>
GANNET_VECTORS inline void UnpackDeltaPairs(const uint8_t* bytes, uint32_t previous, uint32_t* out, std::integer_sequence<unsigned, kPair...>) {
  __m256i before = _mm256_set1_epi32(static_cast<int>(previous));
  ((before = StoreSums(UnpackTwoRows<kWidth, 2 * kPair>(bytes), before, out + 8 * kPair)), ...);
}

template <unsigned kWidth>
GANNET_VECTORS void UnpackAvx2(const uint8_t* bytes, uint32_t addend, uint32_t* out) {
  UnpackPairs<kWidth>(bytes, addend, out, std::make_integer_sequence<unsigned, kRows / 2>{});
}

template <unsigned kWidth>
GANNET_VECTORS void UnpackDeltasAvx2(const uint8_t* bytes, uint32_t previous, uint32_t* out) {
  UnpackDeltaPairs<kWidth>(bytes, previous, out, std::make_integer_sequence<unsigned, kRows / 2>{});
}

#undef GANNET_VECTORS
#define GANNET_VECTORS __attribute__((target("avx512f,avx512bw")))

// Mask of all lanes: some compilers regard the operands of the intrinsics without a mask as uninitialised.
constexpr __mmask16 kAll = 0xffff;

template <unsigned kWidth, unsigned kRow>
constexpr unsigned kWordOf = kRow * kWidth / 32;

// Returns the lanes of the four rows from kFirst on that begin in a word or, with kEnd, that end in it without
// beginning there.
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

// Unpacks sixteen values: the four rows from kFirst on.
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
    // A shift by 32 gives zero.
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

// Adds one to each of sixteen values and returns their running sums.
GANNET_VECTORS inline __m512i SumUp(__m512i values) {
  const __m512i fourth = _mm512_setr_epi32(0, 0, 0, 0, 3, 3, 3, 3, 0, 0, 0, 0, 11, 11, 11, 11);
  // Sums of two neighbours, of four, of eight, of sixteen.
  __m512i sums = _mm512_add_epi32(values, _mm512_set1_epi32(1));
  sums = _mm512_add_epi32(sums, _mm512_bslli_epi128(sums, 4));
  sums = _mm512_add_epi32(sums, _mm512_bslli_epi128(sums, 8));
  sums = _mm512_add_epi32(sums, _mm512_maskz_permutexvar_epi32(0xf0f0, fourth, sums));
  return _mm512_add_epi32(sums, _mm512_maskz_permutexvar_epi32(0xff00, _mm512_set1_epi32(7), sums));
}

// Writes sixteen running sums on top of `before`, and returns the last one in all lanes.
GANNET_VECTORS inline __m512i StoreSums(__m512i values, __m512i before, uint32_t* out) {
  const __m512i sums = SumUp(values);
  _mm512_storeu_si512(out, _mm512_add_epi32(sums, before));
  return _mm512_add_epi32(before, _mm512_maskz_permutexvar_epi32(kAll, _mm512_set1_epi32(15), sums));
}

// Unpacks sixteen values at a time, so that a sum depends on eight earlier ones instead of thirty-two: a decoded block
// is usually searched at once.
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
void SetAvx2Widths(UnpackTable* unpack, UnpackTable* deltas, std::integer_sequence<unsigned, kWidth...>) {
  (((*unpack)[kWidth + 1] = &UnpackAvx2<kWidth + 1>), ...);
  (((*deltas)[kWidth + 1] = &UnpackDeltasAvx2<kWidth + 1>), ...);
}

template <unsigned... kWidth>
void SetAvx512Widths(UnpackTable* unpack, UnpackTable* deltas, std::integer_sequence<unsigned, kWidth...>) {
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
  constexpr auto widths = std::make_integer_sequence<unsigned, kVectorWidthMax>{};
  if (sets.avx2) {
    functions.unpack_bitset = UnpackBitsetAvx2;
    SetAvx2Widths(&functions.unpack_block, &functions.unpack_block_deltas, widths);
  }
  if (sets.avx512f) functions.unpack_bitset = UnpackBitsetAvx512;
  if (sets.avx512f && sets.avx512bw) SetAvx512Widths(&functions.unpack_block, &functions.unpack_block_deltas, widths);
#endif
  return functions;
}();

}  // namespace

void UnpackBitset(const uint8_t* bytes, size_t words, uint32_t first, uint32_t* out) {
  kFunctions.unpack_bitset(bytes, words, first, out);
}

void UnpackBlock(const uint8_t* bytes, unsigned width, uint32_t addend, uint32_t* out) {
  kFunctions.unpack_block[width](bytes, addend, out);
}

void UnpackBlockDeltas(const uint8_t* bytes, unsigned width, uint32_t previous, uint32_t* out) {
  kFunctions.unpack_block_deltas[width](bytes, previous, out);
}

}  // namespace gannet
