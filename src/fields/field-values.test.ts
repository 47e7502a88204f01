import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPoint, parseDate } from './field-values.js';

describe('parseDate', () => {
  it('reads what toISOString writes', () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_167_219_200_000, max: 253_402_300_799_999 }), (time) => {
        expect(parseDate(new Date(time).toISOString())).toBe(time);
      }),
    );
  });

  it('reads the same text again, whatever was read meanwhile', () => {
    const days = fc.integer({ min: 0, max: 40_000 }).map((day) => day * 86_400_000);
    const times = fc.integer({ min: 0, max: 4_000_000_000_000 });
    const written = fc.oneof(
      days.map((time) => [new Date(time).toISOString().slice(0, 10), time] as const),
      times.map((time) => [new Date(time).toISOString(), time] as const),
      fc.constantFrom(['2026-02-30', undefined] as const, ['', undefined] as const, ['2026', undefined] as const),
    );
    fc.assert(
      fc.property(fc.array(written, { maxLength: 50 }), (texts) => {
        for (const [text, time] of [...texts, ...texts]) expect(parseDate(text)).toBe(time);
      }),
    );
  });

  it.each([
    ['2026-11-21', Date.UTC(2026, 10, 21)],
    ['2026-11-21T05:54:00+01:00', Date.UTC(2026, 10, 21, 4, 54)],
    ['2026-11-21T05:54Z', Date.UTC(2026, 10, 21, 5, 54)],
    ['0099-01-01', Date.parse('0099-01-01T00:00:00Z')],
  ])('reads %s', (written, expected) => {
    expect(parseDate(written)).toBe(expected);
  });

  it.each([
    '2026-02-30',
    '2026-13-01',
    '2026-11-21T05:54:00',
    '2026-11-21T25:00:00Z',
    '21.11.2026',
    '2026',
    '',
    '1700000000',
    // With their zones these times are in years that an answer cannot contain.
    '0000-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
    '9999-12-31T23:59:60Z',
  ])('refuses %j', (written) => {
    expect(parseDate(written)).toBeUndefined();
  });
});

describe('isPoint', () => {
  it('accepts exactly the members latitude and longitude', () => {
    expect(isPoint({ latitude: 1, longitude: 2 })).toBe(true);
    for (const other of [
      null,
      [],
      { latitude: 1 },
      { latitude: 1, longitude: '2' },
      { latitude: 1, longitude: 2, height: 3 },
    ]) {
      expect(isPoint(other)).toBe(false);
    }
  });
});
