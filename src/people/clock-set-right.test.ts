/** No person stays signed in for as long as a clock was ahead. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openEnvironment, type LmdbEnvironment } from '../platform/index.js';
import { Links, SIGN_IN_LINK_HOURS } from './links.js';
import { People } from './people.js';
import { Sessions } from './sessions.js';

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;
const RIGHT_MS = Date.UTC(2026, 10, 23);
const ORIGIN = { address: '192.0.2.1', userAgent: 'a browser' };

let folder: string;
let environment: LmdbEnvironment;
let nowMs: number;
const clock = { nowMs: () => nowMs, nowIso: () => new Date(nowMs).toISOString() };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-people-'));
  environment = openEnvironment(folder, { kind: 'system' });
  nowMs = RIGHT_MS;
});
afterEach(async () => {
  await environment.close();
  rmSync(folder, { recursive: true });
});

const peopleNow = () => new People(environment, clock, 'default');

async function signedIn(people: People, sessions: Sessions) {
  const { personId, begun } = await people.store.change((change) => {
    const { person } = people.add(change, 'default', { email: null, role: 'owner' });
    return { personId: person.id, begun: sessions.begin(change, person.id, ORIGIN) };
  });
  begun.written();
  return { personId, token: begun.token };
}

const comesIn = (sessions: Sessions, token: string) => {
  const credential = { kind: 'session', token, csrfToken: '', fetchSite: 'same-origin', account: '' } as const;
  return sessions.authenticate(credential, 'default', false);
};

it('A session from a clock that was a year ahead ends when the clock is corrected, after a restart as well', async () => {
  const people = peopleNow();
  const sessions = new Sessions(people);
  nowMs = RIGHT_MS + YEAR_MS;
  const { personId, token } = await signedIn(people, sessions);
  expect(comesIn(sessions, token)).toMatchObject({ kind: 'console' });
  nowMs = RIGHT_MS;
  expect(sessions.of(personId)).toEqual([]);
  expect(() => comesIn(sessions, token)).toThrow(/sign/i);
  expect(() => comesIn(new Sessions(people), token)).toThrow(/sign/i);
});

it('A session continues if the clock is set back by an hour, and its last use is stored by the new time', async () => {
  const people = peopleNow();
  const sessions = new Sessions(people);
  const { personId, token } = await signedIn(people, sessions);
  nowMs = RIGHT_MS - HOUR_MS;
  expect(comesIn(sessions, token)).toMatchObject({ kind: 'console' });
  // Changes are made one after the other.
  await people.store.change(() => undefined);
  const [again] = new Sessions(people).of(personId);
  expect(again?.last_used_utc).toBe(clock.nowIso());
});

it('A sign-in link from a clock that was a year ahead is invalid when the clock is corrected', async () => {
  const people = peopleNow();
  const links = new Links(people);
  nowMs = RIGHT_MS + YEAR_MS;
  const { token } = await people.store.change((change) => links.make(change, 'p1', SIGN_IN_LINK_HOURS));
  expect(links.personOf(token)).toBe('p1');
  nowMs = RIGHT_MS;
  expect(links.personOf(token)).toBeUndefined();
  expect(links.isAwaited('p1')).toBe(false);
});

it('A sign-in link stays valid if the clock is set back by minutes', async () => {
  const people = peopleNow();
  const links = new Links(people);
  const { token } = await people.store.change((change) => links.make(change, 'p1', SIGN_IN_LINK_HOURS));
  nowMs -= HOUR_MS / 2;
  expect(links.personOf(token)).toBe('p1');
});
