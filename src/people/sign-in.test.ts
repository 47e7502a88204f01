import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hash } from '@node-rs/argon2';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openEnvironment, systemClock, type LmdbEnvironment } from '../platform/index.js';
import { ATTEMPTS_MAX } from './attempts.js';
import { Passwords, WAITING_MAX } from './passwords.js';
import { People } from './people.js';
import { SignIn } from './sign-in.js';
import type { PersonRecord } from './types.js';
import { makeAccounts } from '../../test/support/made-accounts.js';

const EMAIL = 'known@example.com';
const PASSWORD = 'a good password';
/** Makes a hash that is compared quickly, because the tests compare many. */
const quickHash = (password: string) => hash(password, { memoryCost: 8, timeCost: 1, parallelism: 1 });

let folder: string;
let environment: LmdbEnvironment;
let people: People;
let passwords: Passwords;
let signIn: SignIn;
let kept: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-sign-in-'));
  environment = openEnvironment(folder, { kind: 'system' });
  await makeAccounts(environment, 'own');
  people = new People(environment, systemClock, 'default');
  passwords = new Passwords();
  signIn = new SignIn(people, systemClock, undefined, passwords);
  kept = await quickHash(PASSWORD);
  await people.store.change((change) => {
    const { person } = people.add(change, 'own', { email: EMAIL, role: 'owner' });
    change.put(people.store.collection<PersonRecord>('people'), person.id, { ...person, password_hash: kept });
  });
});
afterEach(async () => {
  await environment.close();
  rmSync(folder, { recursive: true });
});

describe('a sign-in that is refused because too many are waiting', () => {
  const origin = { address: '192.0.2.1', userAgent: '' };
  const attempt = (password: string) => signIn.byPassword({ email: EMAIL, password }, origin);

  it('does not count as a wrong password', async () => {
    for (let times = 0; times <= ATTEMPTS_MAX; times += 1) {
      const others = Array.from({ length: WAITING_MAX }, () => passwords.verify(kept, 'theirs'));
      await expect(attempt(PASSWORD)).rejects.toMatchObject({ code: 'overloaded' });
      await Promise.all(others);
    }
    const { person } = await attempt(PASSWORD);
    expect(person.email).toBe(EMAIL);
    for (let times = 0; times <= ATTEMPTS_MAX; times += 1) {
      const others = Array.from({ length: WAITING_MAX }, () => passwords.verify(kept, 'theirs'));
      const session = { id: 'own', personId: person.id, address: origin.address };
      const wanted = { oldPassword: PASSWORD, newPassword: 'another password', email: undefined };
      await expect(signIn.changePassword(session, wanted)).rejects.toMatchObject({ code: 'overloaded' });
      await Promise.all(others);
    }
    await expect(attempt(PASSWORD)).resolves.toBeDefined();
  });

  it('does not reset the count of wrong passwords', async () => {
    for (let times = 0; times < ATTEMPTS_MAX; times += 1) {
      await expect(attempt('wrong')).rejects.toMatchObject({ code: 'sign-in-failed' });
    }
    await expect(attempt(PASSWORD)).rejects.toMatchObject({ code: 'rate-limited' });
  });
});

describe('a sign-in with an unknown email', () => {
  it('takes one comparison like any other, even if it is the first', async () => {
    const answered: string[] = [];
    await Promise.all([
      passwords.verify(null, PASSWORD).then((isRight) => answered.push(`nobody ${isRight}`)),
      passwords.verify(kept, PASSWORD).then((isRight) => answered.push(`known ${isRight}`)),
    ]);
    // Comparisons run one after the other: one that took two turns would be last.
    expect(answered).toEqual(['nobody false', 'known true']);
  });
});
