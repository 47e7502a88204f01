// Numbers that C++ and TypeScript share. They are defined only in C++ and read from here.
#include <lmdb.h>

#include <string>

#include "../kernel/analysis/stemmer.h"
#include "../kernel/analysis/unicode_data.h"
#include "../kernel/columns/column.h"
#include "../kernel/common/simd.h"
#include "../kernel/common/stop.h"
#include "../kernel/format.h"
#include "../kernel/highlight/highlighter.h"
#include "../kernel/query/plan.h"
#include "../kernel/segment/document_batch.h"
#include "../kernel/terms/word_expander.h"
#include "../kernel/sources/meaning_source.h"
#include "../kernel/text/record_packing.h"
#include "../kernel/text/record_splitter.h"
#include "bindings.h"
#include "page_texts.h"

namespace gannet::addon {
namespace {

// Incremented with every change of the interface: index.ts refuses an addon with another version.
constexpr uint32_t kInterfaceVersion = 20;

struct Constant {
  const char* name;
  double value;
};

template <typename Enum>
constexpr double Number(Enum value) {
  return static_cast<double>(value);
}

constexpr Constant kConstants[] = {
    {"InterfaceVersion", kInterfaceVersion},
    // format.h
    {"FormatVersion", kFormatVersion},
    {"MaxDocumentsPerSegment", kMaxDocumentsPerSegment},
    {"BlockSize", kBlockSize},
    {"WindowSize", kWindowSize},
    {"DeletionChunkBytes", kDeletionChunkBytes},
    {"ColumnBlockSize", kColumnBlockSize},
    {"TermBytesMax", kTermBytesMax},
    {"TermPrefixBytes", kTermPrefixBytes},
    // plan.h
    {"PlanMagic", kPlanMagic},
    {"ResultMagic", kResultMagic},
    {"HitsMax", kHitsMax},
    {"GroupsMax", kGroupsMax},
    {"AlternativesMax", kAlternativesMax},
    {"SequenceMax", kSequenceMax},
    {"FilterDepthMax", kFilterDepthMax},
    {"SortKeysMax", kSortKeysMax},
    {"PlanFlagNeedTotal", kNeedTotal},
    {"PlanFlagExplain", kExplain},
    {"PlanFlagStorageOrder", kStorageOrder},
    {"PlanFlagKeepMatches", kKeepMatches},
    {"PlanValueString", 0},
    {"PlanValueNumber", 1},
    {"OccurShould", Number(Occur::kShould)},
    {"OccurMust", Number(Occur::kMust)},
    {"OccurMustNot", Number(Occur::kMustNot)},
    {"AlternativeKindWord", Number(AlternativeKind::kWord)},
    {"AlternativeKindTypo", Number(AlternativeKind::kTypo)},
    {"AlternativeKindSynonym", Number(AlternativeKind::kSynonym)},
    {"AlternativeKindCompound", Number(AlternativeKind::kCompound)},
    {"FilterOpAll", Number(FilterOp::kAll)},
    {"FilterOpAnd", Number(FilterOp::kAnd)},
    {"FilterOpOr", Number(FilterOp::kOr)},
    {"FilterOpNot", Number(FilterOp::kNot)},
    {"FilterOpEqual", Number(FilterOp::kEqual)},
    {"FilterOpNotEqual", Number(FilterOp::kNotEqual)},
    {"FilterOpLess", Number(FilterOp::kLess)},
    {"FilterOpLessOrEqual", Number(FilterOp::kLessOrEqual)},
    {"FilterOpGreater", Number(FilterOp::kGreater)},
    {"FilterOpGreaterOrEqual", Number(FilterOp::kGreaterOrEqual)},
    {"FilterOpIn", Number(FilterOp::kIn)},
    {"FilterOpIsNull", Number(FilterOp::kIsNull)},
    {"FilterOpWithin", Number(FilterOp::kWithin)},
    {"FilterOpInBox", Number(FilterOp::kInBox)},
    {"FilterOpRecord", Number(FilterOp::kRecord)},
    {"SortByScore", Number(SortBy::kScore)},
    {"SortByColumn", Number(SortBy::kColumn)},
    {"SortByDistance", Number(SortBy::kDistance)},
    {"SortByRecordNumber", Number(SortBy::kRecordNumber)},
    {"MeaningWantedMax", kMeaningWantedMax},
    {"MeaningWidthMax", kMeaningWidthMax},
    // document_batch.h, column.h
    {"EntryKindText", Number(EntryKind::kText)},
    {"EntryKindString", Number(EntryKind::kString)},
    {"EntryKindNumber", Number(EntryKind::kNumber)},
    {"EntryKindLocation", Number(EntryKind::kLocation)},
    {"ColumnTypeString", Number(ColumnType::kString)},
    {"ColumnTypeNumber", Number(ColumnType::kNumber)},
    {"ColumnTypeBoolean", Number(ColumnType::kBoolean)},
    {"ColumnTypeDate", Number(ColumnType::kDate)},
    {"ColumnTypeLocation", Number(ColumnType::kLocation)},
    // other headers
    {"ExpandedTermsMax", kExpandedTermsMax},
    {"ExpandedWordsMax", kExpandedWordsMax},
    {"SpellingCharactersMax", kSpellingCharactersMax},
    {"HighlightCharactersMax", kHighlightCharactersMax},
    {"HighlightToBeSegmented", kHighlightToBeSegmented},
    {"HighlightUnreadable", kHighlightUnreadable},
    {"PageDeflated", kDeflatedPage},
    {"PagePlain", kPlainPage},
    {"PageDamaged", kDamagedPage},
    {"PageByDictionary", kByDictionary},
    {"RecordBytesMaxMax", kRecordBytesMaxMax},
    {"PackedRecordFormat", kPackedRecordFormat},
    {"StopFlagsMax", kStopFlagsMax},
    {"VectorFormat", vectors::kVectorFormat},
    {"VectorDimensionsMax", vectors::kDimensionsMax},
};

const char* SimdName() {
#if defined(__x86_64__)
  const InstructionSets sets = ProcessorInstructionSets();
  if (sets.avx512f && sets.avx512bw) return "avx512";
  if (sets.avx2) return "avx2";
  return "sse2";
#elif defined(__aarch64__)
  return "neon";
#else
  return "none";
#endif
}

}  // namespace

void DefineConstants(Napi::Object exports) {
  const Napi::Env env = exports.Env();
  Napi::Object constants = Napi::Object::New(env);
  for (const Constant& constant : kConstants) constants.Set(constant.name, Napi::Number::New(env, constant.value));
  constants.Freeze();
  exports.Set("constants", constants);

  Napi::Object build = Napi::Object::New(env);
#if defined(__clang__)
  build.Set("compiler", std::string("clang ") + __clang_version__);
#else
  build.Set("compiler", std::string("gcc ") + __VERSION__);
#endif
  build.Set("simd", SimdName());
  build.Set("lmdb", mdb_version(nullptr, nullptr, nullptr));
  build.Set("format", std::to_string(kFormatVersion) + "." + std::to_string(kStemsRevision));
  build.Set("unicode", std::string(UnicodeVersion()));
  build.Freeze();
  exports.Set("build", build);
}

}  // namespace gannet::addon
