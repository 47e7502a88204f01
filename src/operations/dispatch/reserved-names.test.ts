import { describe, expect, it } from 'vitest';
import { reservedAccountNames } from './reserved-names.js';

const paths = (...each: string[]) => each.map((path) => ({ path }));

describe('reservedAccountNames', () => {
  it('returns the words that stand in another path where an account could stand', () => {
    const reserved = reservedAccountNames(
      paths('/echo/{account}', '/echo/loud/{account}', '/echo/{account}/softly', '/other/words/{account}'),
    );
    expect(reserved.has('loud')).toBe(true);
    for (const free of ['softly', 'words', 'echo', 'other', '{account}']) expect(reserved.has(free), free).toBe(false);
  });

  it('looks at every level of a path', () => {
    const reserved = reservedAccountNames(paths('/search/click/list/{account}/{list}', '/search/click/{account}'));
    expect(reserved.has('list')).toBe(true);
    expect(reservedAccountNames(paths('/a/b/{account}', '/a/c/quiet/{account}')).has('quiet')).toBe(false);
  });

  it('includes reserved words that no path uses yet', () => {
    expect(reservedAccountNames([]).has('document-text')).toBe(true);
  });
});
