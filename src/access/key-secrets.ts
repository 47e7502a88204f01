/** The text of keys, `gnt_<region>_<secret>`, and what is kept of them: the SHA-256 of the whole key. */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

const KEY_PREFIX = 'gnt';
const SECRET_BYTES = 32;
const HASH_BYTES = 32;
/** Longer texts are no keys: prefix, 16 characters of region, 43 of secret and two separators at most. */
export const KEY_CHARACTERS_MAX = 96;

/** A new key: the region, and 32 random bytes in base64url. */
export function newKeyText(region: string): string {
  return `${KEY_PREFIX}_${region}_${randomBytes(SECRET_BYTES).toString('base64url')}`;
}

/** Hexadecimal SHA-256 of the whole key. */
export function keyHash(key: string): string {
  return hash('sha256', key, 'hex');
}

const left = Buffer.alloc(HASH_BYTES * 2);
const right = Buffer.alloc(HASH_BYTES * 2);

/** Compares two hashes of `keyHash` in a time that does not depend on where they differ. */
export function sameHash(a: string, b: string): boolean {
  left.fill(0).write(a, 'latin1');
  right.fill(0).write(b, 'latin1');
  return timingSafeEqual(left, right) && a.length === b.length;
}
