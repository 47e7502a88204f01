/** Tokens of sessions and links, and the hashes that are stored of them. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const TOKEN_BYTES = 32;
/** 32 bytes in base64url. */
export const TOKEN_PATTERN = '^[A-Za-z0-9_\\-]{43}$';
/** Description of the pattern for people. */
export const TOKEN_WORDS = 'the whole token as it was given, of 43 letters, digits, hyphens and underscores';

export function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** Returns the SHA-256 in hexadecimal, which is stored. A token of 256 random bits needs no salt. */
export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** Derived from the session's token, so that it need not be stored; does not reveal that token. */
export function csrfToken(sessionToken: string): string {
  return createHash('sha256').update(`csrf ${sessionToken}`).digest('base64url');
}

/** Compares in constant time. */
export function isSameToken(a: string, b: string): boolean {
  const [first, second] = [Buffer.from(a), Buffer.from(b)];
  return first.length === second.length && timingSafeEqual(first, second);
}
