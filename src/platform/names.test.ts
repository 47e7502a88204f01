import { describe, expect, it } from 'vitest';
import { assertName, nameFault } from './names.js';
import { ServiceError } from './errors.js';

describe('names', () => {
  it.each(['a', '0', 'a-b_c', 'x'.repeat(64)])('accepts %s', (name) => expect(nameFault('list', name)).toBeUndefined());
  it.each(['', '-a', '_a', 'A', 'ä', 'a b', 'a/b', 'x'.repeat(65), 'a\n', '__proto__', '..'])('refuses %j', (name) =>
    expect(() => assertName('list', name)).toThrow(ServiceError),
  );
});
