import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nameFault } from '../platform/index.js';
import { accountNameOf } from './own-account.js';

describe('the name of the account of a person who signs up', () => {
  it.each([
    ['ann@example.com', 'ann'],
    ['Ann.Lee+shop@example.com', 'ann-lee-shop'],
    ['Zoë@example.com', 'zoe'],
    ['"a b"@example.com', 'a-b'],
    ['李@example.com', 'account'],
    ['@example.com', 'account'],
  ])('of %s is %s', (email, name) => {
    expect(accountNameOf(email)).toBe(name);
  });

  it('is valid, whatever the email is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (email) => {
        expect(nameFault('account', accountNameOf(email))).toBeUndefined();
        expect(nameFault('account', `${accountNameOf(email)}-123456`)).toBeUndefined();
      }),
    );
  });
});
