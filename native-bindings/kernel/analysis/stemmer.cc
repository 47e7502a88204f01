#include "stemmer.h"

#include <libstemmer.h>

#include <algorithm>
#include <array>
#include <map>
#include <new>

#include "light_stemmer.h"
#include "signed_words.h"

namespace gannet {
namespace {

constexpr size_t kLanguagesPerThreadMax = 64;
// "jusqu'", "lorsqu'"; "aujourd'hui" is one word.
constexpr size_t kElidedBytesMax = 6;
constexpr size_t kElisionRestBytesMin = 2;
constexpr size_t kNameBytesMin = 2;

struct Alias {
  std::string_view tag;
  const char* stemmer;
};
// Tags that libstemmer does not know under their own name.
constexpr std::array kAliases = {Alias{"nb", "no"}, Alias{"nn", "no"}, Alias{"hr", "sr"}, Alias{"bs", "sr"}};

// Folded endings that the algorithms part from the other form's. Of words of so many bytes at least: mais is no plural of mal.
struct Ending {
  std::string_view language;
  std::string_view typed;
  std::string_view taken_for;
  size_t word_bytes_min;
};
constexpr std::array kEndings = {
    Ending{"es", "z", "c", 3},      // luz, luces
    Ending{"pt", "oes", "ao", 5},  Ending{"pt", "aes", "ao", 4},  // acoes, paes
    Ending{"pt", "ais", "al", 5},  Ending{"pt", "eis", "el", 5}, Ending{"pt", "ois", "ol", 6},
};

struct Revised {
  std::string_view tag;
  uint32_t revision;  // of kStemsRevision, when its stems changed last
};
constexpr std::array kRevised = {
    Revised{"bg", 1}, Revised{"bs", 1}, Revised{"cs", 1}, Revised{"fa", 1}, Revised{"he", 1},
    Revised{"hr", 1}, Revised{"pl", 1}, Revised{"sk", 1}, Revised{"sl", 1}, Revised{"sr", 1}, Revised{"uk", 1},
};

struct Accent {
  std::string_view language;
  std::string_view folded;    // an ending
  std::string_view accented;  // the same as the algorithm knows it
};
constexpr std::array kAccents = {
    Accent{"es", "cion", "ción"},   Accent{"es", "sion", "sión"},  Accent{"es", "logia", "logía"},
    Accent{"es", "ogias", "ogías"}, Accent{"pt", "cao", "ção"},    Accent{"pt", "coes", "ções"},
    Accent{"pt", "avel", "ável"},   Accent{"pt", "ivel", "ível"},  Accent{"pt", "encia", "ência"},
    Accent{"pt", "encias", "ências"}, Accent{"ca", "cio", "ció"},  Accent{"ca", "sio", "sió"},
    Accent{"it", "ita", "ità"},
};

// Of Istanbul'da the apostrophe tells where the name ends.
bool PartsSuffixes(std::string_view language) { return language == "tr"; }

bool Elides(std::string_view language) { return language == "fr" || language == "it" || language == "ca"; }

}  // namespace

bool HasDigit(std::string_view term) {
  return std::any_of(term.begin(), term.end(), [](char byte) { return byte >= '0' && byte <= '9'; });
}

Stemmer::Stemmer(std::string_view language) : language_(language), elides_(Elides(language)) {
  if (language.empty() || language == "none") return;
  light_ = FindLightStemmer(language);
  std::string name(language);
  for (const Alias& alias : kAliases) {
    if (alias.tag == language) name = alias.stemmer;
  }
  // libstemmer knows "porter", too, and languages by their names; tags are all that is asked for.
  if (name.size() == 2) stemmer_ = sb_stemmer_new(name.c_str(), nullptr);
}

Stemmer::~Stemmer() { sb_stemmer_delete(stemmer_); }

std::string_view Stemmer::StripParticles(std::string_view term) const {
  if (elides_) {
    const size_t apostrophe = term.find('\'');
    if (apostrophe != std::string_view::npos && apostrophe <= kElidedBytesMax &&
        term.size() - apostrophe - 1 >= kElisionRestBytesMin) {
      term.remove_prefix(apostrophe + 1);
    }
  }
  if (PartsSuffixes(language_)) {
    const size_t apostrophe = term.find('\'');
    if (apostrophe != std::string_view::npos && apostrophe >= kNameBytesMin) term = term.substr(0, apostrophe);
  }
  if (term.ends_with("'s")) term.remove_suffix(2);
  while (term.ends_with('\'')) term.remove_suffix(1);
  return term;
}

std::string_view Stemmer::Stem(std::string_view term) {
  if (!has_stems() || term.size() > kStemmedBytesMax || HasDigit(term) || IsSigned(term)) return {};
  std::string_view word = StripParticles(term);
  if (word.empty()) return {};
  std::string_view stem = stemmer_ == nullptr ? word : StemBySnowball(word);
  if (light_ != nullptr) {
    light_->Stem(stem, &light_stem_);
    stem = light_stem_;
  }
  return stem;
}

std::string_view Stemmer::StemBySnowball(std::string_view word) {
  for (const Ending& ending : kEndings) {
    if (ending.language != language_ || word.size() < ending.word_bytes_min || !word.ends_with(ending.typed)) continue;
    ending_.assign(word.substr(0, word.size() - ending.typed.size()));
    ending_ += ending.taken_for;
    word = ending_;
    break;
  }
  for (const Accent& accent : kAccents) {
    if (accent.language != language_ || !word.ends_with(accent.folded)) continue;
    scratch_.assign(word.substr(0, word.size() - accent.folded.size()));
    scratch_ += accent.accented;
    word = scratch_;
    break;
  }
  const sb_symbol* stem = sb_stemmer_stem(stemmer_, reinterpret_cast<const sb_symbol*>(word.data()),
                                          static_cast<int>(word.size()));
  if (stem == nullptr) throw std::bad_alloc();
  return {reinterpret_cast<const char*>(stem), static_cast<size_t>(sb_stemmer_length(stemmer_))};
}

uint32_t StemsRevision(std::string_view language) {
  const auto found = std::ranges::find(kRevised, language, &Revised::tag);
  return found == kRevised.end() ? 0 : found->revision;
}

Stemmer& ThreadStemmer(std::string_view language) {
  static thread_local std::map<std::string, std::unique_ptr<Stemmer>, std::less<>> stemmers;
  const auto found = stemmers.find(language);
  if (found != stemmers.end()) return *found->second;
  if (stemmers.size() >= kLanguagesPerThreadMax) stemmers.clear();
  return *stemmers.emplace(std::string(language), std::make_unique<Stemmer>(language)).first->second;
}

}  // namespace gannet
