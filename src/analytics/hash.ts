/**
 * Hashes of bytes, for the tables of terms and the names of shown results. They are stored on disk, so a change needs a
 * new format.
 */

/** Returns 32 bits: FNV-1a with the final mixing of MurmurHash3, so that low bits depend on all bytes. */
export function hashBytes(bytes: Uint8Array, begin: number, end: number, seed = 0x811c9dc5): number {
  let hash = seed;
  for (let at = begin; at < end; ++at) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/**
 * Returns the hash that identifies a shown result within one search: by its list (empty for a list search) and its
 * name.
 */
export function resultHash(listName: Uint8Array, resultName: Uint8Array): number {
  return hashBytes(resultName, 0, resultName.length, hashBytes(listName, 0, listName.length));
}
