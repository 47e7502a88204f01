#include "word_forms.h"

#include <algorithm>
#include <vector>

namespace gannet {

PackedForms::PackedForms(std::span<const WordForm> forms) {
  std::vector<uint8_t> bytes;
  std::string_view last;
  for (const WordForm& form : forms) {
    const std::string_view term = form.term;
    const auto shared = static_cast<size_t>(std::ranges::mismatch(last, term).in2 - term.begin());
    AppendVarint(&bytes, shared);
    AppendVarint(&bytes, form.distance);
    AppendVarint(&bytes, form.document_frequency);
    AppendVarint(&bytes, term.size() - shared);
    AppendBytes(&bytes, AsBytes(term.substr(shared)));
    last = term;
  }
  bytes_.assign(AsText(bytes));
}

size_t PackedForms::HeapBytes() const { return bytes_.size() < 16 ? 0 : bytes_.capacity() + 17; }

}  // namespace gannet
