import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assertExpected, isKnown, wantedRange } from './conditions.js';
import type { StoredFile } from './media-store.js';

const file = (bytes: number, etag = 'v1'): StoredFile => ({
  path: 'a',
  bytes,
  etag,
  contentType: 'text/plain',
  modifiedUtc: '2026-01-01T00:00:00.000Z',
});
const code = (expected: string) => expect.objectContaining({ code: expected }) as Error;

describe('conditional requests', () => {
  it('are met or answered with 412', () => {
    for (const [headers, present, absent] of [
      [{}, true, true],
      [{ 'if-match': '"v1"' }, true, false],
      [{ 'if-match': '"v0", "v1"' }, true, false],
      [{ 'if-match': '*' }, true, false],
      [{ 'if-match': '"v2"' }, false, false],
      // Weak tags never match where the content must be exactly the same.
      [{ 'if-match': 'W/"v1"' }, false, false],
      [{ 'if-none-match': '*' }, false, true],
      [{ 'if-none-match': '"v2"' }, true, true],
      [{ 'if-none-match': 'W/"v1"' }, false, true],
    ] as const) {
      for (const [isMet, current] of [
        [present, file(1)],
        [absent, undefined],
      ] as const) {
        const check = () => assertExpected(headers, current);
        if (isMet) expect(check).not.toThrow();
        else expect(check).toThrow(code('precondition-failed'));
      }
    }
    expect(isKnown({ 'if-none-match': '"v0", W/"v1"' }, file(1))).toBe(true);
    expect(isKnown({ 'if-none-match': '"v0"' }, file(1))).toBe(false);
    expect(() => isKnown({ 'if-match': '"v0"', 'if-none-match': '"v1"' }, file(1))).toThrow(
      code('precondition-failed'),
    );
  });

  it('have lists of tags or are answered with 400, whatever is sent', () => {
    expect(() => assertExpected({ 'if-match': 'v1' }, file(1))).toThrow(code('invalid-parameter'));
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii', maxLength: 40 }), (text) => {
        try {
          assertExpected({ 'if-match': text, 'if-none-match': text }, file(1));
        } catch (error) {
          expect(['invalid-parameter', 'precondition-failed']).toContain((error as { code?: string }).code);
        }
      }),
    );
  });
});

describe('wantedRange', () => {
  it('reads ranges as defined in RFC 9110', () => {
    const range = (text: string, bytes = 10) => wantedRange({ range: text }, file(bytes));
    expect(range(' Bytes = 2 - 5 ')).toEqual({ begin: 2, end: 6 });
    const before = process.cpuUsage();
    for (let time = 0; time < 10; time += 1) expect(range(`bytes=${' '.repeat(16_000)}x`)).toBeUndefined();
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(500);
    expect(range('bytes=0-0')).toEqual({ begin: 0, end: 1 });
    expect(range('bytes=2-5')).toEqual({ begin: 2, end: 6 });
    expect(range('bytes=2-')).toEqual({ begin: 2, end: 10 });
    expect(range('bytes=-3')).toEqual({ begin: 7, end: 10 });
    expect(range('bytes=-300')).toEqual({ begin: 0, end: 10 });
    expect(range('bytes=9-999999999999999')).toEqual({ begin: 9, end: 10 });
    for (const whole of ['bytes=5-2', 'bytes=0-1,3-4', 'lines=1-2', 'bytes=', 'bytes=-', 'nothing']) {
      expect(range(whole)).toBeUndefined();
    }
    for (const [text, bytes] of [
      ['bytes=10-', 10],
      ['bytes=-0', 10],
      ['bytes=0-', 0],
      ['bytes=-5', 0],
    ] as const) {
      expect(() => range(text, bytes)).toThrow(code('range-not-satisfiable'));
    }
    expect(wantedRange({ range: 'bytes=0-1', 'if-range': '"v1"' }, file(10))).toEqual({ begin: 0, end: 2 });
    expect(wantedRange({ range: 'bytes=0-1', 'if-range': '"v0"' }, file(10))).toBeUndefined();
  });

  it('returns a range within the file, whatever is sent', () => {
    const text = fc.oneof(
      fc.string({ maxLength: 30 }),
      fc.tuple(fc.nat(), fc.nat()).map(([a, b]) => `bytes=${a}-${b}`),
      fc.stringMatching(/^bytes=[0-9-]{0,30}$/),
    );
    fc.assert(
      fc.property(text, fc.nat(1000), (range, bytes) => {
        try {
          const wanted = wantedRange({ range }, file(bytes));
          if (wanted === undefined) return;
          expect(wanted.begin).toBeGreaterThanOrEqual(0);
          expect(wanted.begin).toBeLessThan(wanted.end);
          expect(wanted.end).toBeLessThanOrEqual(bytes);
        } catch (error) {
          expect((error as { code?: string }).code).toBe('range-not-satisfiable');
        }
      }),
    );
  });
});
