/** The text of keys, `gnt_<region>_<secret>`, and what is stored of them: the SHA-256 of the whole key. */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

const KEY_PREFIX = 'gnt';
const SECRET_BYTES = 32;
const HASH_BYTES = 32;
/** Longer texts cannot be keys: prefix, at most 16 characters of region, 43 of secret, and two separators. */
export const KEY_CHARACTERS_MAX = 96;

/** Returns a new key: the region, and 32 random bytes in base64url. */
export function newKeyText(region: string): string {
  return `${KEY_PREFIX}_${region}_${randomBytes(SECRET_BYTES).toString('base64url')}`;
}

/** Returns the hexadecimal SHA-256 of the whole key, which is stored. */
export function keyHash(key: string): string {
  return hash('sha256', key, 'hex');
}

/** As `keyHash`, with one character per byte: half as long, because it is computed and looked up for each request. */
export function keyDigest(key: string): string {
  return hash('sha256', key, 'binary');
}

/** Returns the bytes of a stored hash. */
export function hashBytes(storedHash: string): Buffer {
  return Buffer.from(storedHash, 'hex');
}

const compared = Buffer.alloc(HASH_BYTES);

/** Compares a digest of `keyDigest` with the bytes of a hash, in a time that does not depend on where they differ. */
export function isDigestOf(digest: string, bytes: Buffer): boolean {
  compared.write(digest, 'latin1');
  return timingSafeEqual(compared, bytes);
}
