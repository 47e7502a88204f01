/** Tokens of sessions and links, and what is kept of them. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const TOKEN_BYTES = 32;
/** 32 bytes in base64url. */
export const TOKEN_PATTERN = '^[A-Za-z0-9_\\-]{43}$';
/** For people. */
export const TOKEN_WORDS = 'the whole token as it was given, of 43 letters, digits, hyphens and underscores';

export function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** Hexadecimal SHA-256: what is stored. A token of 256 random bits needs no salt. */
export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** Follows from the session's token, so that nothing is to be stored for it, and does not lead back to it. */
export function csrfToken(sessionToken: string): string {
  return createHash('sha256').update(`csrf ${sessionToken}`).digest('base64url');
}

/** In a time that does not depend on where they differ. */
export function isSameToken(a: string, b: string): boolean {
  const [first, second] = [Buffer.from(a), Buffer.from(b)];
  return first.length === second.length && timingSafeEqual(first, second);
}
