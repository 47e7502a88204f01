#include "code_dot.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gannet::vectors {
namespace {

// Vectors that are fetched while one is multiplied: what a processor can have under way at a time.
constexpr size_t kFetchAhead = 6;
constexpr size_t kCacheLine = 64;

using ProductOf = int32_t (*)(const uint8_t* codes, const int8_t* query, uint32_t padded);
using ProductsOf = void (*)(const Codes& codes, std::span<const uint32_t> places, const int8_t* query, uint32_t padded,
                            int32_t bias, size_t ahead, int32_t* products);

using FloatProductOf = float (*)(const float* a, const float* b, size_t size);

void Fetch(const uint8_t* codes, uint32_t padded) {
  for (uint32_t at = 0; at < padded; at += kCacheLine) __builtin_prefetch(codes + at);
}

// Of the codes as they stand: without the bias.
int32_t ProductBaseline(const uint8_t* codes, const int8_t* query, uint32_t padded) {
  int32_t sum = 0;
  for (uint32_t i = 0; i < padded; ++i) sum += static_cast<int32_t>(codes[i]) * query[i];
  return sum;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) int32_t SumAvx2(__m256i values) {
  __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(values), _mm256_extracti128_si256(values, 1));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1));
  return _mm_cvtsi128_si32(sum);
}

__attribute__((target("avx2"))) int32_t ProductAvx2(const uint8_t* codes, const int8_t* query, uint32_t padded) {
  __m256i low = _mm256_setzero_si256();
  __m256i high = _mm256_setzero_si256();
  for (uint32_t at = 0; at < padded; at += 32) {
    // In 16 bits each: a pair of products is at most 2 * 255 * 127, more than maddubs has room for.
    const __m128i code0 = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + at));
    const __m128i code1 = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + at + 16));
    const __m128i query0 = _mm_loadu_si128(reinterpret_cast<const __m128i*>(query + at));
    const __m128i query1 = _mm_loadu_si128(reinterpret_cast<const __m128i*>(query + at + 16));
    low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_cvtepu8_epi16(code0), _mm256_cvtepi8_epi16(query0)));
    high = _mm256_add_epi32(high, _mm256_madd_epi16(_mm256_cvtepu8_epi16(code1), _mm256_cvtepi8_epi16(query1)));
  }
  return SumAvx2(_mm256_add_epi32(low, high));
}

__attribute__((target("avx2,avx512f,avx512bw,avx512vnni"))) int32_t ProductVnni(const uint8_t* codes, const int8_t* query,
                                                                           uint32_t padded) {
  __m512i sum = _mm512_setzero_si512();
  for (uint32_t at = 0; at < padded; at += 64) {
    sum = _mm512_dpbusd_epi32(sum, _mm512_loadu_si512(codes + at), _mm512_loadu_si512(query + at));
  }
  // With a mask of everything, which says to the compiler that nothing is left undefined.
  return SumAvx2(_mm256_add_epi32(_mm512_maskz_extracti64x4_epi64(0xff, sum, 0),
                                  _mm512_maskz_extracti64x4_epi64(0xff, sum, 1)));
}
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
// Also what AVX-512 would do: the time goes into fetching.
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

// The loop over a list is inside the version, so that the product is inlined into it.
#define GANNET_PRODUCTS(name, product, attributes)                                                              \
  attributes void name(const Codes& codes, std::span<const uint32_t> places, const int8_t* query, uint32_t padded, \
                       int32_t bias, size_t ahead, int32_t* products) {                                         \
    const size_t count = places.size();                                                                         \
    for (size_t i = 0; i < count && i < ahead; ++i) Fetch(codes.of(places[i]), padded);                           \
    for (size_t i = 0; i < count; ++i) {                                                                        \
      if (ahead > 0 && i + ahead < count) Fetch(codes.of(places[i + ahead]), padded);                           \
      products[i] = product(codes.of(places[i]), query, padded) - bias;                                         \
    }                                                                                                           \
  }
GANNET_PRODUCTS(ProductsBaseline, ProductBaseline, )
#if defined(__x86_64__)
GANNET_PRODUCTS(ProductsAvx2, ProductAvx2, __attribute__((target("avx2"))))
GANNET_PRODUCTS(ProductsVnni, ProductVnni, __attribute__((target("avx2,avx512f,avx512bw,avx512vnni"))))
#endif
#undef GANNET_PRODUCTS

struct Version {
  ProductOf product = ProductBaseline;
  ProductsOf products = ProductsBaseline;
  FloatProductOf float_product = FloatProductBaseline;
};

Version Choose() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vnni")) {
    return {ProductVnni, ProductsVnni, FloatProductAvx2};
  }
  if (__builtin_cpu_supports("avx2")) return {ProductAvx2, ProductsAvx2, FloatProductAvx2};
#endif
  return {};
}

const Version kVersion = Choose();

}  // namespace

CodeQuery::CodeQuery(const int8_t* components, uint32_t padded) : components_(components), padded_(padded) {
  int32_t sum = 0;
  for (uint32_t i = 0; i < padded; ++i) sum += components[i];
  bias_ = sum * kZeroCode;
}

void CodeQuery::FromCodes(const uint8_t* codes, uint32_t padded, int8_t* components) {
  for (uint32_t i = 0; i < padded; ++i) components[i] = static_cast<int8_t>(codes[i] ^ kZeroCode);
}

int32_t CodeQuery::Product(const uint8_t* codes) const { return kVersion.product(codes, components_, padded_) - bias_; }

void CodeQuery::Products(const Codes& codes, std::span<const uint32_t> places, int32_t* products) const {
  kVersion.products(codes, places, components_, padded_, bias_, kFetchAhead, products);
}

void CodeQuery::Fetch(const Codes& codes, std::span<const uint32_t> places) const {
  for (const uint32_t place : places) vectors::Fetch(codes.of(place), padded_);
}

void CodeQuery::ProductsOfFetched(const Codes& codes, std::span<const uint32_t> places, int32_t* products) const {
  kVersion.products(codes, places, components_, padded_, bias_, 0, products);
}

float Product(std::span<const float> a, std::span<const float> b) {
  return kVersion.float_product(a.data(), b.data(), a.size());
}

}  // namespace gannet::vectors
