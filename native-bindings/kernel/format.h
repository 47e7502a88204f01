// On-disk layout of an index segment: the constants that the writer, the reader and the merger share.
//
// A segment is one LMDB file (main database only, keys with a one-byte prefix), written once in key
// order and never changed. docs/formats.md describes every value; a change here raises kFormatVersion.
//
// Thread-safety: constants only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gannet {

// In every format, past and future, the first four bytes of the value of `M` are its version (u32, little-endian), and
// LMDB can find that value: so a segment of another format can be told from a damaged one.
inline constexpr uint32_t kFormatVersion = 6;

// Maximum number of documents per segment. 2^24 keeps every delta of a posting block within 24 bits, so that a damaged
// block cannot overflow the 32-bit prefix sum (128 * 2^24 + 2^24 < 2^32).
inline constexpr uint32_t kMaxDocumentsPerSegment = 1u << 24;

inline constexpr uint32_t kBlockSize = 128;          // postings per block
inline constexpr uint32_t kImpactsPerBlock = 4;      // (frequency, norm) pairs kept per block
inline constexpr uint32_t kImpactsPerList = 16;      // pairs kept per posting list
inline constexpr uint32_t kInlinePostingBytesMax = 256;  // a list up to this size is stored in its term's value
inline constexpr uint32_t kPostingChunkBytes = 8u << 20; // postings are stored in chunks of about this size
inline constexpr uint32_t kPostingChunkPadding = 64; // readable zero bytes after the last list of a chunk
inline constexpr uint32_t kWindowSize = 4096;        // documents per evaluation window and per deletion chunk
inline constexpr uint32_t kDeletionChunkBytes = kWindowSize / 8;
inline constexpr uint32_t kColumnBlockSize = 4096;   // documents per column minimum/maximum

// First bytes of the keys. The order of the letters is the order of writing (MDB_APPEND), so postings come before the
// terms that point to them.
enum class Key : uint8_t {
  kColumn = 'C',          // 'C' u16be column, u8 part
  kFieldLengths = 'L',    // 'L' u16be text field: tokens of the field per document; after all fields, of parts of words
  kMeta = 'M',            // 'M': SegmentMeta
  kNorms = 'N',           // 'N': one length code per document
  kPostings = 'P',        // 'P' u32be chunk
  kRecordNumbers = 'R',   // 'R' u8 part: 0 document -> record number, 1 documents sorted by record number
  kStemGroup = 'S',       // 'S' stem bytes: terms of the stem, if they are not just the stem
  kTerm = 'T',            // 'T' term bytes: TermEntry
  kSpelling = 'V',        // 'V' u8 part: SpellingIndex; 0 terms, 1 offsets, 2 order by bytes read backwards
};

// A longer term is stored as its first kTermPrefixBytes, a NUL, and a hash of 16 bytes (32 hexadecimal digits) of the
// whole term, so that every term can be found, however long.
inline constexpr size_t kTermBytesMax = 400;
inline constexpr size_t kTermPrefixBytes = 360;

}  // namespace gannet
