import { describe, expect, it } from 'vitest';
import { parseExpiry, parseFutureExpiry } from './key-expiry.js';

describe('parseExpiry', () => {
  it('reads a date as the end of that day, and a time as it is', () => {
    expect(parseExpiry('2027-01-01')).toBe('2027-01-01T23:59:59.999Z');
    expect(parseExpiry('2027-01-01T12:00Z')).toBe('2027-01-01T12:00:00.000Z');
    expect(parseExpiry('2027-01-01T12:00:00+02:00')).toBe('2027-01-01T10:00:00.000Z');
  });

  it('refuses what is no date or time', () => {
    for (const text of ['', 'tomorrow', '2027-02-30', '2027-13-01', '2027-1-1', '2027-02-30T00:00:00Z', '1767225600']) {
      expect(() => parseExpiry(text), text).toThrow(/The expiry must be a date/);
    }
  });
});

describe('parseFutureExpiry', () => {
  it('accepts today, which is not over, and refuses what has passed', () => {
    const nowMs = Date.parse('2027-01-01T12:00:00.000Z');
    expect(parseFutureExpiry('2027-01-01', nowMs)).toBe('2027-01-01T23:59:59.999Z');
    expect(parseFutureExpiry('2027-01-01T12:00:00.001Z', nowMs)).toBe('2027-01-01T12:00:00.001Z');
    for (const text of ['2026-12-31', '2027-01-01T12:00:00Z', '2027-01-01T13:00:00+02:00']) {
      expect(() => parseFutureExpiry(text, nowMs), text).toThrow(/is in the past: it is now 2027-01-01T12:00:00.000Z/);
    }
  });
});
