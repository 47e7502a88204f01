#include "code_dot.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "../common/simd.h"

namespace gannet::vectors {
namespace {

// Amount that is prefetched while one vector is multiplied, in cache lines or vectors: as much as a processor can have
// in flight.
constexpr size_t kFetchedLines = 16;
constexpr size_t kFetchedVectorsMin = 6;
constexpr size_t kCacheLine = 64;

using ProductOf = int32_t (*)(const uint8_t* codes, const int8_t* query, uint32_t padded);
using ProductsOf = void (*)(const Codes& codes, std::span<const uint32_t> places, const int8_t* query, uint32_t padded,
                            int32_t bias, size_t ahead, int32_t* products);

// Number of vectors whose products are computed together: their registers are then summed across lanes in a few steps
// for all.
constexpr size_t kTogether = 4;

using FloatProductOf = float (*)(const float* a, const float* b, size_t size);
using Lister = uint32_t (*)(const int32_t* products, size_t count, int32_t bar, uint32_t* numbers);

void Fetch(const uint8_t* codes, uint32_t padded) {
  for (uint32_t at = 0; at < padded; at += kCacheLine) __builtin_prefetch(codes + at);
}

int32_t FourBitProductBaseline(const uint8_t* codes, const int8_t* query, uint32_t bytes) {
  int32_t sum = 0;
  for (uint32_t at = 0; at < bytes; at += kCodePadding, query += 2 * kCodePadding) {
    for (uint32_t i = 0; i < kCodePadding; ++i) {
      sum += (codes[at + i] & 0xf) * query[i] + (codes[at + i] >> 4) * query[kCodePadding + i];
    }
  }
  return sum;
}

// Product of the codes as stored, without the bias.
int32_t ProductBaseline(const uint8_t* codes, const int8_t* query, uint32_t padded) {
  int32_t sum = 0;
  for (uint32_t i = 0; i < padded; ++i) sum += static_cast<int32_t>(codes[i]) * query[i];
  return sum;
}

void FourProductsBaseline(const Codes& codes, const uint32_t* places, const int8_t* query, uint32_t padded, int32_t* products) {
  for (size_t i = 0; i < kTogether; ++i) products[i] = ProductBaseline(codes.of(places[i]), query, padded);
}

void FourFourBitProductsBaseline(const Codes& codes, const uint32_t* places, const int8_t* query, uint32_t bytes, int32_t* products) {
  for (size_t i = 0; i < kTogether; ++i) products[i] = FourBitProductBaseline(codes.of(places[i]), query, bytes);
}

#if defined(__x86_64__)
#define GANNET_AVX2 __attribute__((target("avx2")))
#define GANNET_VNNI __attribute__((target("avx2,avx512f,avx512bw,avx512vnni")))

GANNET_AVX2 inline int32_t SumAvx2(__m256i values) {
  __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(values), _mm256_extracti128_si256(values, 1));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1));
  return _mm_cvtsi128_si32(sum);
}

GANNET_AVX2 inline void StoreSums(__m256i a, __m256i b, __m256i c, __m256i d, int32_t* sums) {
  const __m256i halves = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
  const __m128i all = _mm_add_epi32(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(sums), all);
}

GANNET_AVX2 inline __m256i LanesAvx2(const uint8_t* codes, const int8_t* query, uint32_t padded) {
  __m256i low = _mm256_setzero_si256();
  __m256i high = _mm256_setzero_si256();
  for (uint32_t at = 0; at < padded; at += 32) {
    // In 16 bits per component: a pair of products is at most 2 * 255 * 127, which overflows maddubs.
    const __m128i code0 = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + at));
    const __m128i code1 = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + at + 16));
    const __m128i query0 = _mm_loadu_si128(reinterpret_cast<const __m128i*>(query + at));
    const __m128i query1 = _mm_loadu_si128(reinterpret_cast<const __m128i*>(query + at + 16));
    low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_cvtepu8_epi16(code0), _mm256_cvtepi8_epi16(query0)));
    high = _mm256_add_epi32(high, _mm256_madd_epi16(_mm256_cvtepu8_epi16(code1), _mm256_cvtepi8_epi16(query1)));
  }
  return _mm256_add_epi32(low, high);
}

GANNET_AVX2 inline __m256i FourBitLanesAvx2(const uint8_t* codes, const int8_t* query, uint32_t bytes) {
  const __m256i mask = _mm256_set1_epi8(0xf);
  __m256i sum = _mm256_setzero_si256();
  for (uint32_t at = 0; at < bytes; at += kCodePadding, query += 2 * kCodePadding) {
    const auto* const code = reinterpret_cast<const __m256i*>(codes + at);
    const auto* const with = reinterpret_cast<const __m256i*>(query);
    const __m256i first = _mm256_loadu_si256(code);
    const __m256i second = _mm256_loadu_si256(code + 1);
    // 16 bits have room for four pairs of products: each pair is at most 2 * 15 * 127.
    __m256i pairs = _mm256_maddubs_epi16(_mm256_and_si256(first, mask), _mm256_loadu_si256(with));
    pairs = _mm256_add_epi16(pairs, _mm256_maddubs_epi16(_mm256_and_si256(second, mask), _mm256_loadu_si256(with + 1)));
    const __m256i first_upper = _mm256_and_si256(_mm256_srli_epi16(first, 4), mask);
    const __m256i second_upper = _mm256_and_si256(_mm256_srli_epi16(second, 4), mask);
    pairs = _mm256_add_epi16(pairs, _mm256_maddubs_epi16(first_upper, _mm256_loadu_si256(with + 2)));
    pairs = _mm256_add_epi16(pairs, _mm256_maddubs_epi16(second_upper, _mm256_loadu_si256(with + 3)));
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
  return sum;
}

// Uses a mask of all lanes, so that the compiler regards nothing as undefined.
GANNET_VNNI inline __m256i HalvedVnni(__m512i sum) {
  return _mm256_add_epi32(_mm512_maskz_extracti64x4_epi64(0xff, sum, 0), _mm512_maskz_extracti64x4_epi64(0xff, sum, 1));
}

GANNET_VNNI inline int32_t SumVnni(__m512i sum) { return SumAvx2(HalvedVnni(sum)); }

// Sums pairs of lanes of two registers: each quarter of the result has halves of the one and of the other in turn.
GANNET_VNNI inline __m512i AddedVnni(__m512i a, __m512i b) {
  return _mm512_add_epi32(_mm512_maskz_unpacklo_epi32(0xffff, a, b), _mm512_maskz_unpackhi_epi32(0xffff, a, b));
}

GANNET_VNNI inline void StoreSums(__m512i a, __m512i b, __m512i c, __m512i d, int32_t* sums) {
  const __m512i ab = AddedVnni(a, b);
  const __m512i cd = AddedVnni(c, d);
  const __m512i quarters = _mm512_add_epi32(_mm512_maskz_unpacklo_epi64(0xff, ab, cd), _mm512_maskz_unpackhi_epi64(0xff, ab, cd));
  const __m256i halves = HalvedVnni(quarters);
  const __m128i all = _mm_add_epi32(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(sums), all);
}

GANNET_VNNI inline __m512i FourBitLanesVnni(const uint8_t* codes, const int8_t* query, uint32_t bytes) {
  const __m512i mask = _mm512_set1_epi8(0xf);
  __m512i sum = _mm512_setzero_si512();
  for (uint32_t at = 0; at < bytes; at += kCodePadding, query += 2 * kCodePadding) {
    const __m512i both = _mm512_loadu_si512(codes + at);
    sum = _mm512_dpbusd_epi32(sum, _mm512_and_si512(both, mask), _mm512_loadu_si512(query));
    const __m512i upper = _mm512_and_si512(_mm512_srli_epi16(both, 4), mask);
    sum = _mm512_dpbusd_epi32(sum, upper, _mm512_loadu_si512(query + kCodePadding));
  }
  return sum;
}

GANNET_VNNI inline __m512i LanesVnni(const uint8_t* codes, const int8_t* query, uint32_t padded) {
  __m512i sum = _mm512_setzero_si512();
  for (uint32_t at = 0; at < padded; at += 64) {
    sum = _mm512_dpbusd_epi32(sum, _mm512_loadu_si512(codes + at), _mm512_loadu_si512(query + at));
  }
  return sum;
}

#define GANNET_PRODUCT(one, four, lanes, sum, attributes)                                                                              \
  attributes int32_t one(const uint8_t* codes, const int8_t* query, uint32_t bytes) { return sum(lanes(codes, query, bytes)); }        \
  attributes void four(const Codes& codes, const uint32_t* places, const int8_t* query, uint32_t bytes, int32_t* products) {          \
    StoreSums(lanes(codes.of(places[0]), query, bytes), lanes(codes.of(places[1]), query, bytes),                                       \
              lanes(codes.of(places[2]), query, bytes), lanes(codes.of(places[3]), query, bytes), products);                            \
  }
GANNET_PRODUCT(ProductAvx2, FourProductsAvx2, LanesAvx2, SumAvx2, GANNET_AVX2)
GANNET_PRODUCT(FourBitProductAvx2, FourFourBitProductsAvx2, FourBitLanesAvx2, SumAvx2, GANNET_AVX2)
GANNET_PRODUCT(ProductVnni, FourProductsVnni, LanesVnni, SumVnni, GANNET_VNNI)
GANNET_PRODUCT(FourBitProductVnni, FourFourBitProductsVnni, FourBitLanesVnni, SumVnni, GANNET_VNNI)
#undef GANNET_PRODUCT
#endif

constexpr size_t kFloatLanes = 16;

float FloatProductBaseline(const float* a, const float* b, size_t size) {
  float sums[kFloatLanes] = {};
  size_t at = 0;
  for (; at + kFloatLanes <= size; at += kFloatLanes) {
    for (size_t lane = 0; lane < kFloatLanes; ++lane) sums[lane] += a[at + lane] * b[at + lane];
  }
  for (size_t lane = 0; at < size; ++at, ++lane) sums[lane] += a[at] * b[at];
  for (size_t half = kFloatLanes / 2; half > 0; half /= 2) {
    for (size_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return sums[0];
}

#if defined(__x86_64__)
// AVX-512 would not be faster: the time is spent fetching.
__attribute__((target("avx2"))) float FloatProductAvx2(const float* a, const float* b, size_t size) {
  __m256 low = _mm256_setzero_ps();
  __m256 high = _mm256_setzero_ps();
  size_t at = 0;
  for (; at + kFloatLanes <= size; at += kFloatLanes) {
    low = _mm256_add_ps(low, _mm256_mul_ps(_mm256_loadu_ps(a + at), _mm256_loadu_ps(b + at)));
    high = _mm256_add_ps(high, _mm256_mul_ps(_mm256_loadu_ps(a + at + 8), _mm256_loadu_ps(b + at + 8)));
  }
  alignas(32) float sums[kFloatLanes];
  _mm256_store_ps(sums, low);
  _mm256_store_ps(sums + 8, high);
  for (size_t lane = 0; at < size; ++at, ++lane) sums[lane] += a[at] * b[at];
  for (size_t half = kFloatLanes / 2; half > 0; half /= 2) {
    for (size_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return sums[0];
}
#endif

// The loop over a list is inside each version, so that the product is inlined into it.
#define GANNET_PRODUCTS(name, one, four, attributes)                                                                \
  attributes void name(const Codes& codes, std::span<const uint32_t> places, const int8_t* query, uint32_t padded,   \
                       int32_t bias, size_t ahead, int32_t* products) {                                           \
    const size_t count = places.size();                                                                           \
    for (size_t i = 0; i < count && i < ahead; ++i) Fetch(codes.of(places[i]), padded);                             \
    size_t i = 0;                                                                                                 \
    for (; i + kTogether <= count; i += kTogether) {                                                               \
      if (ahead > 0) {                                                                                             \
        for (size_t j = i + ahead; j < i + ahead + kTogether && j < count; ++j) Fetch(codes.of(places[j]), padded); \
      }                                                                                                           \
      four(codes, &places[i], query, padded, &products[i]);                                                       \
      for (size_t j = i; j < i + kTogether; ++j) products[j] -= bias;                                              \
    }                                                                                                             \
    for (; i < count; ++i) products[i] = one(codes.of(places[i]), query, padded) - bias;                            \
  }
GANNET_PRODUCTS(ProductsBaseline, ProductBaseline, FourProductsBaseline, )
GANNET_PRODUCTS(FourBitProductsBaseline, FourBitProductBaseline, FourFourBitProductsBaseline, )
#if defined(__x86_64__)
GANNET_PRODUCTS(ProductsAvx2, ProductAvx2, FourProductsAvx2, GANNET_AVX2)
GANNET_PRODUCTS(FourBitProductsAvx2, FourBitProductAvx2, FourFourBitProductsAvx2, GANNET_AVX2)
GANNET_PRODUCTS(ProductsVnni, ProductVnni, FourProductsVnni, GANNET_VNNI)
GANNET_PRODUCTS(FourBitProductsVnni, FourBitProductVnni, FourFourBitProductsVnni, GANNET_VNNI)
#endif
#undef GANNET_PRODUCTS

// Computes the products of all codes of `count` blocks, each minus `bias`.
using InterleavedOf = void (*)(const uint8_t* blocks, uint32_t count, const int8_t* query, uint32_t bytes, int32_t bias, int32_t* products);

constexpr uint32_t kBytesTogether = 4;
constexpr size_t kStepBytes = kInterleaved * kBytesTogether;

void InterleavedBaseline(const uint8_t* blocks, uint32_t count, const int8_t* query, uint32_t bytes, int32_t bias, int32_t* products) {
  for (uint32_t block = 0; block < count; ++block, products += kInterleaved) {
    std::fill_n(products, kInterleaved, -bias);
    for (uint32_t at = 0; at < bytes; ++at) {
      const uint8_t* const step = blocks + at / kBytesTogether * kStepBytes + at % kBytesTogether;
      for (uint32_t lane = 0; lane < kInterleaved; ++lane) products[lane] += step[lane * kBytesTogether] * query[at];
    }
    blocks += size_t{bytes} * kInterleaved;
  }
}

void InterleavedFourBitBaseline(const uint8_t* blocks, uint32_t count, const int8_t* query, uint32_t bytes, int32_t bias, int32_t* products) {
  for (uint32_t block = 0; block < count; ++block, products += kInterleaved) {
    std::fill_n(products, kInterleaved, -bias);
    for (uint32_t at = 0; at < bytes; ++at) {
      const uint8_t* const step = blocks + at / kBytesTogether * kStepBytes + at % kBytesTogether;
      const int8_t* const with = query + at / kCodePadding * 2 * kCodePadding + at % kCodePadding;
      for (uint32_t lane = 0; lane < kInterleaved; ++lane) {
        const uint8_t code = step[lane * kBytesTogether];
        products[lane] += (code & 0xf) * with[0] + (code >> 4) * with[kCodePadding];
      }
    }
    blocks += size_t{bytes} * kInterleaved;
  }
}

#if defined(__x86_64__)
GANNET_VNNI inline __m512i RepeatedVnni(const int8_t* four) {
  int32_t both;
  std::memcpy(&both, four, sizeof(both));
  return _mm512_set1_epi32(both);
}

GANNET_VNNI void InterleavedVnni(const uint8_t* blocks, uint32_t count, const int8_t* query, uint32_t bytes, int32_t bias, int32_t* products) {
  for (uint32_t block = 0; block < count; ++block) {
    __m512i sum = _mm512_set1_epi32(-bias);
    for (uint32_t at = 0; at < bytes; at += kBytesTogether, blocks += kStepBytes) {
      sum = _mm512_dpbusd_epi32(sum, _mm512_loadu_si512(blocks), RepeatedVnni(query + at));
    }
    _mm512_storeu_si512(products + size_t{block} * kInterleaved, sum);
  }
}

GANNET_VNNI void InterleavedFourBitVnni(const uint8_t* blocks, uint32_t count, const int8_t* query, uint32_t bytes, int32_t bias, int32_t* products) {
  const __m512i mask = _mm512_set1_epi8(0xf);
  for (uint32_t block = 0; block < count; ++block) {
    // Two sums, so that a step need not wait for the previous one.
    __m512i lower = _mm512_set1_epi32(-bias);
    __m512i upper = _mm512_setzero_si512();
    const int8_t* with = query;
    for (uint32_t first = 0; first < bytes; first += kCodePadding, with += 2 * kCodePadding) {
      for (uint32_t at = 0; at < kCodePadding; at += kBytesTogether, blocks += kStepBytes) {
        const __m512i both = _mm512_loadu_si512(blocks);
        lower = _mm512_dpbusd_epi32(lower, _mm512_and_si512(both, mask), RepeatedVnni(with + at));
        upper = _mm512_dpbusd_epi32(upper, _mm512_and_si512(_mm512_srli_epi16(both, 4), mask), RepeatedVnni(with + kCodePadding + at));
      }
    }
    _mm512_storeu_si512(products + size_t{block} * kInterleaved, _mm512_add_epi32(lower, upper));
  }
}

GANNET_AVX2 inline __m256i RepeatedAvx2(const int8_t* four) {
  int32_t both;
  std::memcpy(&both, four, sizeof(both));
  return _mm256_set1_epi32(both);
}

// In 16 bits per component, as above: a quarter of the sixteen vectors takes a register, with two sums for each.
GANNET_AVX2 void InterleavedAvx2(const uint8_t* blocks, uint32_t count, const int8_t* query, uint32_t bytes, int32_t bias, int32_t* products) {
  const __m256i biases = _mm256_set1_epi32(bias);
  for (uint32_t block = 0; block < count; ++block, products += kInterleaved) {
    __m256i sums[4] = {};
    for (uint32_t at = 0; at < bytes; at += kBytesTogether, blocks += kStepBytes) {
      int32_t four;
      std::memcpy(&four, query + at, sizeof(four));
      const __m256i with = _mm256_broadcastq_epi64(_mm_cvtepi8_epi16(_mm_cvtsi32_si128(four)));
#pragma GCC unroll 4
      for (uint32_t quarter = 0; quarter < 4; ++quarter) {
        const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(blocks + 16 * quarter));
        sums[quarter] = _mm256_add_epi32(sums[quarter], _mm256_madd_epi16(_mm256_cvtepu8_epi16(codes), with));
      }
    }
    for (uint32_t half = 0; half < 2; ++half) {
      // hadd interleaves the quarters; the permutation restores their order.
      const __m256i pairs = _mm256_permute4x64_epi64(_mm256_hadd_epi32(sums[2 * half], sums[2 * half + 1]), 0xd8);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(products + 8 * half), _mm256_sub_epi32(pairs, biases));
    }
  }
}

// Computes eight of the sixteen products.
GANNET_AVX2 inline __m256i HalfOfFourBitsAvx2(const uint8_t* half, const int8_t* with, uint32_t bytes) {
  const __m256i mask = _mm256_set1_epi8(0xf);
  __m256i sum = _mm256_setzero_si256();
  for (uint32_t first = 0; first < bytes; first += kCodePadding, with += 2 * kCodePadding) {
    for (uint32_t at = 0; at < kCodePadding; at += kBytesTogether, half += kStepBytes) {
      const __m256i both = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(half));
      __m256i pairs = _mm256_maddubs_epi16(_mm256_and_si256(both, mask), RepeatedAvx2(with + at));
      const __m256i upper = _mm256_and_si256(_mm256_srli_epi16(both, 4), mask);
      pairs = _mm256_add_epi16(pairs, _mm256_maddubs_epi16(upper, RepeatedAvx2(with + kCodePadding + at)));
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
    }
  }
  return sum;
}

GANNET_AVX2 void InterleavedFourBitAvx2(const uint8_t* blocks, uint32_t count, const int8_t* query, uint32_t bytes, int32_t bias, int32_t* products) {
  const __m256i biases = _mm256_set1_epi32(bias);
  constexpr uint32_t kHalf = kInterleaved / 2;
  for (uint32_t half = 0; half < 2 * count; ++half) {
    const uint8_t* const first = blocks + size_t{half / 2} * bytes * kInterleaved + half % 2 * kHalf * kBytesTogether;
    const __m256i sum = _mm256_sub_epi32(HalfOfFourBitsAvx2(first, query, bytes), biases);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(products + size_t{half} * kHalf), sum);
  }
}
#endif

// Without a branch, because it would be unpredictable.
uint32_t ListFromBaseline(const int32_t* products, size_t count, int32_t bar, uint32_t* numbers) {
  uint32_t listed = 0;
  for (size_t i = 0; i < count; ++i) {
    numbers[listed] = static_cast<uint32_t>(i);
    listed += products[i] >= bar;
  }
  return listed;
}

#if defined(__x86_64__)
GANNET_VNNI uint32_t ListFromVnni(const int32_t* products, size_t count, int32_t bar, uint32_t* numbers) {
  constexpr size_t kLanes = 16;
  static_assert(kListedMore >= kLanes);
  const __m512i bars = _mm512_set1_epi32(bar);
  const __m512i step = _mm512_set1_epi32(kLanes);
  __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  uint32_t listed = 0;
  for (size_t i = 0; i < count; i += kLanes) {
    const auto there = static_cast<__mmask16>(count - i >= kLanes ? 0xffff : (1u << (count - i)) - 1);
    const __mmask16 above = _mm512_mask_cmpge_epi32_mask(there, _mm512_maskz_loadu_epi32(there, products + i), bars);
    _mm512_storeu_si512(numbers + listed, _mm512_maskz_compress_epi32(above, lanes));
    listed += static_cast<uint32_t>(__builtin_popcount(above));
    lanes = _mm512_add_epi32(lanes, step);
  }
  return listed;
}
#endif

struct ProductVersion {
  ProductOf product;
  ProductsOf products;
  InterleavedOf interleaved;
};

struct Version {
  ProductVersion eight{ProductBaseline, ProductsBaseline, InterleavedBaseline};
  ProductVersion four{FourBitProductBaseline, FourBitProductsBaseline, InterleavedFourBitBaseline};
  FloatProductOf float_product = FloatProductBaseline;
  Lister list_from = ListFromBaseline;
  const ProductVersion& of(CodeBits bits) const { return bits == CodeBits::kEight ? eight : four; }
};

Version Choose() {
#if defined(__x86_64__)
  const InstructionSets sets = ProcessorInstructionSets();
  if (sets.avx512bw && sets.avx512vnni) {
    return {{ProductVnni, ProductsVnni, InterleavedVnni},
            {FourBitProductVnni, FourBitProductsVnni, InterleavedFourBitVnni},
            FloatProductAvx2,
            ListFromVnni};
  }
  if (sets.avx2) {
    return {{ProductAvx2, ProductsAvx2, InterleavedAvx2},
            {FourBitProductAvx2, FourBitProductsAvx2, InterleavedFourBitAvx2},
            FloatProductAvx2,
            ListFromBaseline};
  }
#endif
  return {};
}

const Version kVersion = Choose();

}  // namespace

CodeQuery::CodeQuery(const int8_t* components, uint32_t bytes, CodeBits bits)
    : components_(components), bytes_(bytes), bits_(bits) {
  if (bits == CodeBits::kFour) return;
  int32_t sum = 0;
  for (uint32_t i = 0; i < bytes; ++i) sum += components[i];
  bias_ = sum * kZeroCode;
}

void CodeQuery::FromCodes(const uint8_t* codes, uint32_t padded, int8_t* components) {
  for (uint32_t i = 0; i < padded; ++i) components[i] = static_cast<int8_t>(codes[i] ^ kZeroCode);
}

int32_t CodeQuery::Product(const uint8_t* codes) const { return kVersion.of(bits_).product(codes, components_, bytes_) - bias_; }

void CodeQuery::Products(const Codes& codes, std::span<const uint32_t> places, int32_t* products) const {
  kVersion.of(bits_).products(codes, places, components_, bytes_, bias_,
                            std::max(kFetchedVectorsMin, kFetchedLines * kCacheLine / bytes_), products);
}

void CodeQuery::Fetch(const Codes& codes, std::span<const uint32_t> places) const {
  for (const uint32_t place : places) vectors::Fetch(codes.of(place), bytes_);
}

void CodeQuery::ProductsOfFetched(const Codes& codes, std::span<const uint32_t> places, int32_t* products) const {
  kVersion.of(bits_).products(codes, places, components_, bytes_, bias_, 0, products);
}

void CodeQuery::ProductsOfInterleaved(const uint8_t* blocks, uint32_t count, int32_t* products) const {
  kVersion.of(bits_).interleaved(blocks, count, components_, bytes_, bias_, products);
}

void PutInterleaved(const uint8_t* codes, uint32_t bytes, uint32_t place, uint8_t* blocks) {
  uint8_t* to = blocks + size_t{place / kInterleaved} * kInterleaved * bytes + place % kInterleaved * kBytesTogether;
  for (uint32_t at = 0; at < bytes; at += kBytesTogether, to += kStepBytes) std::memcpy(to, codes + at, kBytesTogether);
}

uint32_t ListFrom(std::span<const int32_t> products, int32_t bar, uint32_t* numbers) {
  return kVersion.list_from(products.data(), products.size(), bar, numbers);
}

float Product(std::span<const float> a, std::span<const float> b) {
  return kVersion.float_product(a.data(), b.data(), a.size());
}

}  // namespace gannet::vectors
