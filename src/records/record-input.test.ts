import { describe, expect, it } from 'vitest';
import { ServiceError } from '../platform/index.js';
import { readRecordInput } from './record-input.js';

describe('readRecordInput', () => {
  it('takes a flat record with an id and a fields member that is no object', () => {
    const record = { name: 'a', id: 7, fields: 'x' };
    expect(readRecordInput(record)).toEqual({ name: 'a', fields: record, flat: true, asOfMs: undefined });
  });

  it('takes a wrapped record with as_of', () => {
    const record = { name: 'a', fields: { id: 7 }, as_of: '2026-11-21' };
    expect(readRecordInput(record)).toEqual({
      name: 'a',
      fields: { id: 7 },
      flat: false,
      asOfMs: Date.UTC(2026, 10, 21),
    });
  });

  it('takes a record with members beside fields as flat where fields is a point, and else names the member', () => {
    expect(readRecordInput({ fields: { latitude: 51.5, longitude: -0.12 }, other: 2 }).flat).toBe(true);
    expect(() => readRecordInput({ fields: { a: 1 }, as_off: '2026-11-21' })).toThrow(
      "Unknown member 'as_off'. Did you mean 'as_of'?",
    );
  });

  it('takes a record as the service tells it, and no id that the service has not made', () => {
    const id = '019390ab-7f1e-7c3a-8b52-0f4a1c2d3e4f';
    const read = { id, name: 'a', fields: { t: 1 }, source: 'feed:f', created_utc: 'x', modified_utc: 'y' };
    expect(readRecordInput(read)).toEqual({ id, name: 'a', fields: { t: 1 }, flat: false, asOfMs: undefined });
    expect(() => readRecordInput({ ...read, id: 'sku-1' })).toThrow('made by the service');
    expect(() => readRecordInput({ ...read, id: 7 })).toThrow('made by the service');
  });

  it('counts characters of a name, not units', () => {
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
