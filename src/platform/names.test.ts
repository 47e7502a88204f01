import { describe, expect, it } from 'vitest';
import { assertName, assertRecordName, nameFault } from './names.js';
import { ServiceError } from './errors.js';

describe('names', () => {
  it.each(['a', '0', 'a-b_c', 'x'.repeat(64)])('accepts %s', (name) => expect(nameFault('list', name)).toBeUndefined());
  it.each(['', '-a', '_a', 'A', 'ä', 'a b', 'a/b', 'x'.repeat(65), 'a\n', '__proto__', '..'])('refuses %j', (name) =>
    expect(() => assertName('list', name)).toThrow(ServiceError),
  );
});

describe('record names', () => {
  it('count characters, not UTF-16 units', () => {
    expect(() => assertRecordName('😀'.repeat(512))).not.toThrow();
    expect(() => assertRecordName('😀'.repeat(513))).toThrow(ServiceError);
    expect(() => assertRecordName('x'.repeat(513))).toThrow(ServiceError);
  });
  it('are not empty and hold whole characters', () => {
    expect(() => assertRecordName('')).toThrow(ServiceError);
    expect(() => assertRecordName('a\ud800')).toThrow(ServiceError);
    expect(() => assertRecordName('Crème brûlée 1/2')).not.toThrow();
  });
});
