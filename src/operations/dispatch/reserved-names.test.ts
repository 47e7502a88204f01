import { describe, expect, it } from 'vitest';
import { reservedAccountNames } from './reserved-names.js';

const paths = (...each: string[]) => each.map((path) => ({ path }));

describe('reservedAccountNames', () => {
  it('are the words that stand where another path has an account', () => {
    const reserved = reservedAccountNames(
      paths('/echo/{account}', '/echo/loud/{account}', '/echo/{account}/softly', '/other/words/{account}'),
    );
    expect(reserved.has('loud')).toBe(true);
    for (const free of ['softly', 'words', 'echo', 'other', '{account}']) expect(reserved.has(free), free).toBe(false);
  });

  it('reach as deep as the path', () => {
    const reserved = reservedAccountNames(paths('/search/click/list/{account}/{list}', '/search/click/{account}'));
    expect(reserved.has('list')).toBe(true);
    expect(reservedAccountNames(paths('/a/b/{account}', '/a/c/quiet/{account}')).has('quiet')).toBe(false);
  });

  it('have those that are promised', () => {
    expect(reservedAccountNames([]).has('document-text')).toBe(true);
  });
});
