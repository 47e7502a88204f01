/** Creates the account of a person who signs up, named after the email. */
import type { Catalog, Change } from '../catalog/index.js';
import { plainLetters, ServiceError } from '../platform/index.js';
import type { NewAccount } from './sign-in.js';

const NAME_CHARACTERS_MAX = 40;
/** Used if no part of the email is valid in a name. */
const NAMELESS = 'account';

export interface NewAccountOptions {
  readonly catalog: Pick<Catalog, 'addAccount' | 'isAccountNameFree' | 'isFull'>;
  readonly region: string;
  /** Puts the new account on its plan, inside the change. */
  readonly setPlan: (change: Change, account: string) => void;
}

/**
 * The result throws `limit-reached` if the catalogue is full: each account has some room there even then, which strangers
 * could have as often as they sign up.
 */
export function newAccounts({ catalog, region, setPlan }: NewAccountOptions): NewAccount {
  return (change, email) => {
    if (catalog.isFull) throw new ServiceError('limit-reached', 'The service has no room for another account.');
    const { name } = catalog.addAccount(change, freeName(catalog, accountNameOf(email)), region);
    setPlan(change, name);
    return name;
  };
}

/** `Ann.Lee+shop@example.com` → `ann-lee-shop`. */
export function accountNameOf(email: string): string {
  const own = email.slice(0, Math.max(0, email.lastIndexOf('@')));
  const name = plainLetters(own).replaceAll(/[^a-z0-9]+/g, '-');
  const cut = name.slice(0, NAME_CHARACTERS_MAX).replaceAll(/^-+|-+$/g, '');
  return cut === '' ? NAMELESS : cut;
}

/** Returns the name itself, or with the first number appended that makes it free. */
function freeName(catalog: Pick<Catalog, 'isAccountNameFree'>, name: string): string {
  let free = name;
  for (let number = 2; !catalog.isAccountNameFree(free); number += 1) free = `${name}-${number}`;
  return free;
}
