// Stems words by the Snowball algorithms (Porter 2001) of libstemmer, and by tables of suffixes for languages that it does
// not support, or whose endings it knows few of (light_stemmer.h).
//
// Stems are only compared with stems of the same language: words with the same stem are forms of one word. Terms are
// folded, so the algorithms see no diacritics. That changes nothing in languages whose endings do not depend on them:
// English, German and Dutch (whose algorithms drop umlauts themselves), the Scandinavian languages, Finnish, Turkish
// except for ı, and all scripts but Latin (й and the vowel signs of India survive folding). In French, Spanish,
// Portuguese, Italian, Catalan, Romanian, Hungarian and Irish, the algorithms know some endings only with their accents.
// Where frequent forms would get different stems otherwise, the accents are restored first (kAccents in stemmer.cc).
//
// Before that, these are removed: a possessive 's or ', an elided article or pronoun of French, Italian and Catalan
// (l'avion), and the suffix behind the apostrophe of a Turkish name (Istanbul'da).
//
// Thread-safety: one thread. An object is cheap to keep, and costs an allocation to create.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct sb_stemmer;

namespace gannet {

class LightStemmer;

// Maximum size of a term that is stemmed; longer ones are not words.
inline constexpr size_t kStemmedBytesMax = 128;

class Stemmer {
 public:
  // `language` is a BCP 47 primary tag. An unknown one, "none" and "" have no stems.
  explicit Stemmer(std::string_view language);
  ~Stemmer();
  Stemmer(const Stemmer&) = delete;
  Stemmer& operator=(const Stemmer&) = delete;

  bool has_stems() const { return stemmer_ != nullptr || light_ != nullptr; }

  // Returns the stem of a folded term, valid until the next call or until the term is gone. Empty if it has none: the
  // language has no stemmer, or the term is too long or has a digit.
  std::string_view Stem(std::string_view term);

 private:
  std::string_view StripParticles(std::string_view term) const;
  std::string_view StemBySnowball(std::string_view word);

  // If both are set, the second one stems the result of the first. Both null: no stems.
  sb_stemmer* stemmer_ = nullptr;
  const LightStemmer* light_ = nullptr;
  std::string language_;
  bool elides_ = false;
  std::string ending_;
  std::string scratch_;
  std::string light_stem_;
};

// Raised by one whenever the stems of some languages change, so that segments with the earlier stems can be recognised.
inline constexpr uint32_t kStemsRevision = 1;
// Returns the revision in which the stems of this language changed last; 0 if they did not change since segment format 4.
uint32_t StemsRevision(std::string_view language);

// Returns a stemmer of the calling thread for the language, valid until the thread asks for many others.
Stemmer& ThreadStemmer(std::string_view language);

// Words with a digit (model numbers, years) have neither stems nor typo candidates.
bool HasDigit(std::string_view term);

}  // namespace gannet
