import { describe, expect, it } from 'vitest';
import { ServiceError } from '../platform/index.js';
import { readRecordInput } from './record-input.js';

/** The members besides the fields that the service returns for a record. */
const READ = {
  id: '019390ab-7f1e-7c3a-8b52-0f4a1c2d3e4f',
  name: 'a',
  created_utc: '2026-11-21T05:54:00.000Z',
  modified_utc: '2026-11-21T05:54:00.001Z',
};

describe('readRecordInput', () => {
  it('reads a flat record with an id and a fields member that is no object', () => {
    const record = { name: 'a', id: 7, fields: 'x' };
    expect(readRecordInput(record)).toEqual({ name: 'a', fields: record, flat: true, asOfMs: undefined });
  });

  it('reads a wrapped record with as_of', () => {
    const record = { name: 'a', fields: { id: 7 }, as_of: '2026-11-21' };
    expect(readRecordInput(record)).toEqual({
      name: 'a',
      fields: { id: 7 },
      flat: false,
      asOfMs: Date.UTC(2026, 10, 21),
    });
  });

  it('reads a record with members beside fields as flat only if fields is a point, and otherwise names the member', () => {
    expect(readRecordInput({ fields: { latitude: 51.5, longitude: -0.12 }, other: 2 }).flat).toBe(true);
    expect(() => readRecordInput({ fields: { a: 1 }, as_off: '2026-11-21' })).toThrow(
      "Unknown member 'as_off'. Did you mean 'as_of'?",
    );
  });

  it('accepts a record as the service returns it, and no other values for the members that the service makes', () => {
    const { id } = READ;
    const read = { ...READ, fields: { t: 1 }, source: 'feed:f' };
    const taken = { id, name: 'a', fields: { t: 1 }, flat: false, asOfMs: undefined };
    expect(readRecordInput(read)).toEqual(taken);
    expect(readRecordInput({ ...read, source: 'media:default/films.csv' })).toEqual(taken);
    expect(readRecordInput({ id, name: 'a', fields: { t: 1 } })).toEqual(taken);
    const others = {
      id: ['sku-1', 7, null, 'c1a3d6f2-5b1e-4b7a-9d0e-3f2a1b4c5d6e', id.toUpperCase()],
      source: ['gps', 'feed:', 'media:films.csv', 7, null],
      created_utc: ['yesterday', '2026-11-21', '2026-11-21T05:54:00Z', '2026-02-30T00:00:00.000Z', 0, null],
      modified_utc: ['', '2026-11-21T05:54:00.000+01:00'],
    };
    for (const [member, values] of Object.entries(others))
      for (const value of values)
        expect(() => readRecordInput({ ...read, [member]: value }), `${member}: ${value}`).toThrow(
          `The ${member} of a record is made by the service`,
        );
  });

  it('reads a record with a point called fields as flat, unless it looks as the service returns it', () => {
    const fields = { latitude: 1, longitude: 2 };
    const { created_utc: _created, ...partOfRead } = READ;
    for (const flat of [{ name: 'a', source: 'gps' }, { name: 'a', source: 'feed:f' }, { id: 'sku-1' }, partOfRead])
      expect(readRecordInput({ ...flat, fields })).toMatchObject({ flat: true, fields: { ...flat, fields } });
    for (const wrapped of [READ, { name: 'a' }, { as_of: '2026-11-21' }])
      expect(readRecordInput({ ...wrapped, fields })).toMatchObject({ flat: false, fields });
  });

  it('counts the characters of a name, not UTF-16 units', () => {
    expect(readRecordInput({ name: '😀'.repeat(512) }).name).toHaveLength(1024);
    expect(() => readRecordInput({ name: '😀'.repeat(513) })).toThrow('1 to 512');
  });

  it.each([
    [{ name: 5 }],
    [{ name: '' }],
    [{ name: '\ud800' }],
    ['text'],
    [[1]],
    [null],
    [{ fields: {}, as_of: 'now' }],
  ])('refuses %j', (record) => {
    expect(() => readRecordInput(record)).toThrow(ServiceError);
  });
});
