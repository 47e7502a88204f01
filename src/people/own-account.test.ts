import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nameFault } from '../platform/index.js';
import type { Catalog, Change } from '../catalog/index.js';
import { accountNameOf, newAccounts } from './own-account.js';

describe('the name of the account of a person who signs up', () => {
  it.each([
    ['ann@example.com', 'ann'],
    ['Ann.Lee+shop@example.com', 'ann-lee-shop'],
    ['Zoë@example.com', 'zoe'],
    ['Søren.Groß@example.com', 'soren-gross'],
    ['ŁUKASZ@example.com', 'lukasz'],
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

describe('newAccounts', () => {
  function catalogOf(isFull: boolean) {
    const addAccount = (_: Change, name: string, region: string) => ({ name, region, created_utc: '' });
    return { isFull, addAccount, isAccountNameFree: () => true } satisfies Partial<Catalog>;
  }

  it('puts the account of a person who signs up on its plan', () => {
    const planned: string[] = [];
    const create = newAccounts({
      catalog: catalogOf(false),
      region: 'default',
      setPlan: (_, account) => planned.push(account),
    });
    expect(create({} as Change, 'ann@example.com')).toBe('ann');
    expect(planned).toEqual(['ann']);
  });

  it('refuses a newcomer if the catalogue is full, since each account would have some room of its own', () => {
    const create = newAccounts({ catalog: catalogOf(true), region: 'default', setPlan: () => undefined });
    expect(() => create({} as Change, 'ann@example.com')).toThrow('no room for another account');
  });
});
