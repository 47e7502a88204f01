import { describe, expect, it } from 'vitest';
import { OpenIdAttempts } from './openid-attempts.js';
import { TOKEN_PATTERN } from './tokens.js';

const MINUTE_MS = 60_000;

function attemptsAt(time: { ms: number }): OpenIdAttempts {
  return new OpenIdAttempts({ nowMs: () => time.ms, nowIso: () => new Date(time.ms).toISOString() });
}

describe('OpenIdAttempts', () => {
  it('keeps an attempt, however many others begin', () => {
    const attempts = attemptsAt({ ms: Date.now() });
    const { flow, attempt } = attempts.begin();
    for (let i = 0; i < 20_000; i += 1) attempts.begin();
    expect(attempts.useUp(flow)).toEqual(attempt);
  });

  it('accepts each attempt once, whatever its last character is', () => {
    const attempts = attemptsAt({ ms: Date.now() });
    const { flow } = attempts.begin();
    expect(attempts.useUp(flow)).toBeDefined();
    expect(attempts.useUp(flow)).toBeUndefined();
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    for (const last of alphabet) expect(attempts.useUp(flow.slice(0, -1) + last)).toBeUndefined();
  });

  it('refuses attempts that it did not begin, and changed ones', () => {
    const time = { ms: Date.now() };
    const [attempts, other] = [attemptsAt(time), attemptsAt(time)];
    const { flow } = attempts.begin();
    expect(attempts.useUp(other.begin().flow)).toBeUndefined();
    for (let byte = 0; byte < 32; byte += 1) {
      const changed = Buffer.from(flow, 'base64url');
      changed[byte] = (changed[byte] as number) ^ 1;
      expect(attempts.useUp(changed.toString('base64url'))).toBeUndefined();
    }
    for (const none of ['', 'x'.repeat(43), flow.slice(1), `${flow}AAAA`]) expect(attempts.useUp(none)).toBeUndefined();
    expect(attempts.useUp(flow)).toBeDefined();
  });

  it('accepts an attempt for ten minutes, and not longer if the clock is set back', () => {
    const time = { ms: Date.now() };
    const attempts = attemptsAt(time);
    const [soon, late, early] = [attempts.begin(), attempts.begin(), attempts.begin()];
    time.ms += 10 * MINUTE_MS;
    expect(attempts.useUp(soon.flow)).toEqual(soon.attempt);
    time.ms += 1;
    expect(attempts.useUp(late.flow)).toBeUndefined();
    time.ms -= 21 * MINUTE_MS;
    expect(attempts.useUp(early.flow)).toBeUndefined();
  });

  it('has unique texts for each attempt, in the format of PKCE', () => {
    const attempts = attemptsAt({ ms: Date.now() });
    const begun = [attempts.begin(), attempts.begin()];
    const texts = begun.flatMap(({ flow, attempt }) => [flow, ...Object.values(attempt)]);
    expect(new Set(texts).size).toBe(8);
    for (const text of texts) expect(text).toMatch(new RegExp(TOKEN_PATTERN));
  });
});
