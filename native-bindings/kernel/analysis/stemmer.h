// Words to stems, by the Snowball algorithms (Porter 2001) of libstemmer, and by tables of endings for languages that it does
// not know, or of whose endings it knows few (light_stemmer.h).
//
// Stems are only ever compared with stems of the same language: they say which surface forms belong together. Terms
// come folded, so the algorithms see no diacritics. That costs nothing where diacritics do not decide about endings
// (English, German and Dutch, which drop umlauts themselves, the Scandinavian languages, Finnish, Turkish but for ı,
// and every script but Latin: й and the vowel signs of India survive folding). In French, Spanish, Portuguese,
// Italian, Catalan, Romanian, Hungarian and Irish some endings are known with their accents only: where leaving them out
// would part frequent forms, they are put back first (kAccents in stemmer.cc).
//
// A possessive 's or ' goes first, and so does an elided article or pronoun of French, Italian and Catalan (l'avion) and
// what an apostrophe parts from a Turkish name (Istanbul'da).
//
// Thread-safety: one thread; an object is cheap to keep, and costs an allocation to make.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct sb_stemmer;

namespace gannet {

class LightStemmer;

// Longer terms are no words.
inline constexpr size_t kStemmedBytesMax = 128;

class Stemmer {
 public:
  // `language` is a BCP 47 primary tag. Unknown ones, "none" and "" have no stems.
  explicit Stemmer(std::string_view language);
  ~Stemmer();
  Stemmer(const Stemmer&) = delete;
  Stemmer& operator=(const Stemmer&) = delete;

  bool has_stems() const { return stemmer_ != nullptr || light_ != nullptr; }

  // The stem of a folded term, good until the next call or until the term is gone. Empty for a term that has none: of
  // a language without stemmer, too long, or with a digit.
  std::string_view Stem(std::string_view term);

 private:
  std::string_view StripParticles(std::string_view term) const;
  std::string_view StemBySnowball(std::string_view word);

  sb_stemmer* stemmer_ = nullptr;         // one of the two or both, for what the first one leaves; or none
  const LightStemmer* light_ = nullptr;
  std::string language_;
  bool elides_ = false;
  std::string ending_;
  std::string scratch_;
  std::string light_stem_;
};

// Raised by one whenever the stems of some languages change, so that segments that have the stems of before are told apart.
inline constexpr uint32_t kStemsRevision = 1;
// The number that it was raised to when those of this language changed last; 0: they did not since format 4 of segments.
uint32_t StemsRevision(std::string_view language);

// A stemmer of this thread for the language; good until the thread asks for many others.
Stemmer& ThreadStemmer(std::string_view language);

// Words with a digit in them (model numbers, years) have neither stems nor typos.
bool HasDigit(std::string_view term);

}  // namespace gannet
