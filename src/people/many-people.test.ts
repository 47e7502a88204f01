/** The cost of one person does not depend on how many others there are. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openEnvironment, systemClock, type LmdbEnvironment } from '../platform/index.js';
import { People } from './people.js';
import { SignIn } from './sign-in.js';
import type { ContributorRecord, LinkRecord, PersonRecord, SessionRecord } from './types.js';
import { makeAccounts } from '../../test/support/made-accounts.js';

const OTHERS = 300;
const OWN = 1200;
const NOW = '2026-11-21T00:00:00.000Z';
const LATER = '2999-01-01T00:00:00.000Z';

let folder: string;
let environment: LmdbEnvironment;
let people: People;
let signIn: SignIn;
/** How often a member of another person's entry was read. */
let looks = 0;

/** Returns a copy of the entry that counts reads of its members. */
function watched<Entry extends object>(entry: Entry): Entry {
  const shown = Object.entries(entry).map(([name, value]: [string, unknown]) => {
    const get = () => {
      looks += 1;
      return value;
    };
    return [name, { enumerable: true, configurable: true, get }];
  });
  return Object.defineProperties({}, Object.fromEntries(shown) as PropertyDescriptorMap) as Entry;
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-people-'));
  environment = openEnvironment(folder, { kind: 'system' });
  await makeAccounts(environment, 'own', 'others');
  people = new People(environment, systemClock, 'default');
  signIn = new SignIn(people, systemClock);
  const persons = people.store.collection<PersonRecord>('people');
  const contributors = people.store.collection<ContributorRecord>('contributors');
  const links = people.store.collection<LinkRecord>('sign-in-links');
  const sessions = people.store.collection<SessionRecord>('sessions');
  await people.store.change((change) => {
    for (let number = 0; number < OTHERS; number += 1) {
      const [id, account] = [`person-${number}`, 'others'];
      const email = `${id}@example.com`;
      change.put(persons, id, watched({ id, email, password_hash: null, created_utc: NOW }));
      change.put(
        contributors,
        `${account}/${id}`,
        watched({ account, person_id: id, role: 'viewer' as const, added_utc: NOW }),
      );
      const link = { token_hash: `link-${number}`, person_id: id, created_utc: NOW, expires_utc: LATER };
      change.put(links, link.token_hash, watched(link));
      const session = {
        id: `session-${number}`,
        person_id: id,
        token_hash: `token-${number}`,
        created_utc: NOW,
        last_used_utc: NOW,
        address: '192.0.2.1',
        user_agent: '',
      };
      change.put(sessions, session.id, watched(session));
    }
  });
  looks = 0;
});

afterEach(async () => {
  await environment.close();
  rmSync(folder, { recursive: true });
});

const invited = (email: string) => signIn.invite('own', { email, role: 'viewer' });

it('An invitation, a link and the accounts of a person read no entry of other persons', async () => {
  const { person } = await invited('ann@example.com');
  await signIn.linkFor('own', { email: 'ann@example.com', role: 'viewer' });
  expect(people.accountsOf(person.id).map(({ account }) => account)).toEqual(['own']);
  expect(people.personOf('ANN@example.com')?.id).toBe(person.id);
  expect(signIn.links.isAwaited(person.id)).toBe(true);
  expect(signIn.sessions.of(person.id)).toEqual([]);
  expect(looks).toBe(0);
});

it('Accounts of a person are sorted by name, even if one name is the beginning of another', async () => {
  await makeAccounts(environment, 'shop-test', 'shop');
  const { person } = await signIn.invite('shop-test', { email: 'ann@example.com', role: 'viewer' });
  await signIn.invite('shop', { email: 'ann@example.com', role: 'viewer' });
  expect(people.accountsOf(person.id).map(({ account }) => account)).toEqual(['shop', 'shop-test']);
});

it('A sign-in by link reads each link once', async () => {
  const { person, link } = await invited('ann@example.com');
  await signIn.byLink(
    { link: link?.token ?? '', password: 'a long password' },
    { address: '192.0.2.1', userAgent: '' },
  );
  expect(signIn.sessions.of(person.id)).toHaveLength(1);
  // The time of creation and the expiry are read.
  expect(looks).toBe(2 * OTHERS);
});

it('An account with thousands of people is deleted in steps without reading others, whose changes come between', async () => {
  const persons = people.store.collection<PersonRecord>('people');
  await Promise.all(Array.from({ length: OWN }, (_, number) => invited(`own-${number}@example.com`)));
  looks = 0;
  let isRemoved = false;
  const removed = people.removeAll('own', signIn).then(() => (isRemoved = true));
  await people.store.change((change) => change.put(persons, other.id, other));
  expect(isRemoved).toBe(false);
  await removed;
  expect(looks).toBe(0);
  expect(people.contributorPage('own', { size: 10 }).entries).toEqual([]);
  expect(people.personOf('own-7@example.com')).toBeUndefined();
  expect(people.contributorPage('others', { size: OTHERS + 1 }).entries).toHaveLength(OTHERS);
});

const other: PersonRecord = { id: 'another', email: 'another@example.com', password_hash: null, created_utc: NOW };
