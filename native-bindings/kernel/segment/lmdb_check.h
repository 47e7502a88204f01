// Checks the structure of an LMDB file before LMDB follows any reference in it.
//
// LMDB trusts its file: a damaged page number or node offset becomes a wild pointer. The check visits every page of the
// tree. It checks the meta pages, page headers, node offsets and sizes, the order of the keys and the bounds that the
// branches promise, and the page numbers and lengths of overflow values (whose pages are not read). No page may be
// reached twice. Values are not checked.
//
// Thread-safety: a function of its argument.
#pragma once

#include <cstdint>
#include <span>

namespace gannet {

// Throws Error(kDamaged) unless LMDB can read `file` (the whole file, as mapped) safely.
void CheckLmdbFile(std::span<const uint8_t> file);

}  // namespace gannet
