import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordId, recordNumberOf, uuidv7 } from './ids.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const timeOf = (id: string) => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

describe('uuidv7', () => {
  it('has the form of a version 7 UUID and contains its time', () => {
    for (let count = 0; count < 5000; count += 1) {
      const id = uuidv7(1_795_240_440_123);
      expect(id).toMatch(UUID);
      expect(timeOf(id)).toBe(1_795_240_440_123);
    }
  });

  it('returns no duplicates', () => {
    expect(new Set(Array.from({ length: 20_000 }, () => uuidv7())).size).toBe(20_000);
  });
});

describe('uuidv7 with given times', () => {
  it('contains each time, even if time goes back', () => {
    for (const ms of [5, 5, 2 ** 40, 0, 2 ** 48 - 1, 5]) expect(timeOf(uuidv7(ms))).toBe(ms);
  });

  it('has every digit at every random place', () => {
    const digits = Array.from({ length: 36 }, () => new Set<string>());
    for (let count = 0; count < 5000; ++count) [...uuidv7(1)].forEach((digit, place) => digits[place]?.add(digit));
    const sizes = digits.map(({ size }) => size);
    expect(sizes.slice(0, 15)).toEqual(Array<number>(15).fill(1));
    expect(sizes.slice(15)).toEqual([16, 16, 16, 1, 4, 16, 16, 16, 1, ...Array<number>(12).fill(16)]);
  });
});

describe('recordId', () => {
  it('contains the number and time that it was made from', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 0xffff_ffff }),
        fc.integer({ min: 0, max: 2 ** 48 - 1 }),
        (number, time) => {
          const id = recordId(number, time);
          expect(id).toMatch(UUID);
          expect(recordNumberOf(id)).toBe(number);
          expect(timeOf(id)).toBe(time);
        },
      ),
    );
  });

  it('differs for the same number and time', () => {
    expect(new Set(Array.from({ length: 1000 }, () => recordId(7, 1))).size).toBeGreaterThan(990);
  });

  it('refuses numbers out of range', () => {
    for (const number of [-1, 2 ** 32, 0.5, Number.NaN]) expect(() => recordId(number, 0)).toThrow(RangeError);
  });
});

describe('recordNumberOf', () => {
  it('is undefined for anything but a lower-case UUIDv7', () => {
    fc.assert(fc.property(fc.string(), (text) => recordNumberOf(text) === undefined));
    expect(recordNumberOf('00000000-0000-4000-8000-000000000000')).toBeUndefined();
    // The number contains letters, because a random id might have none that upper case changes.
    expect(recordNumberOf(recordId(0xabcdef, 1).toUpperCase())).toBeUndefined();
  });
});
