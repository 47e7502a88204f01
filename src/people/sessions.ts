/**
 * Sessions of people: 12 hours from their last use, ended by the person, by a changed password, or with the person's last account.
 * On disk, so that a restart signs nobody out. Main thread only.
 */
import type { Caller, PersonSession, SessionAuthenticator, SessionCredential } from '../access/index.js';
import type { Change, Collection, GroupedBy } from '../catalog/index.js';
import { ServiceError, uuidv7 } from '../platform/index.js';
import type { People } from './people.js';
import { roleAllows, type RolePlace } from './roles.js';
import { csrfToken, isSameToken, newToken, tokenHash } from './tokens.js';
import type { SessionRecord } from './types.js';

const HOUR_MS = 3_600_000;
export const SESSION_IDLE_MS_MAX = 12 * HOUR_MS;
/** The last use on disk is behind by this at most: a restart shortens a session by no more. */
const LAST_USE_STORED_MS = 600_000;
/** Of one person; the one that was used longest ago ends. */
const SESSIONS_PER_PERSON_MAX = 50;
const USER_AGENT_CHARACTERS_MAX = 256;

/** From where somebody signs in. */
export interface Origin {
  readonly address: string;
  readonly userAgent: string;
}

/** A session in force, as a request needs it. */
interface ActiveSession {
  readonly record: SessionRecord;
  lastUsedMs: number;
  storedMs: number;
}

export class Sessions implements SessionAuthenticator {
  readonly #people: People;
  readonly #sessions: Collection<SessionRecord>;
  readonly #byPerson: GroupedBy<SessionRecord>;
  /** By the hash of the token. */
  readonly #active = new Map<string, ActiveSession>();

  constructor(people: People) {
    this.#people = people;
    this.#sessions = people.store.collection('sessions');
    this.#byPerson = this.#sessions.groupBy(({ person_id }) => person_id);
    for (const record of this.#sessions.values()) this.#activate(record);
  }

  authenticate(credential: SessionCredential, account: string | undefined, changes: boolean): Caller {
    const session = this.#active.get(tokenHash(credential.token));
    const nowMs = this.#people.clock.nowMs();
    const person = session === undefined ? undefined : this.#people.person(session.record.person_id);
    if (session === undefined || person === undefined || isOver(session, nowMs)) throw notSignedIn();
    if (changes) assertOwnPage(credential);
    this.#used(session, nowMs);
    const { id } = session.record;
    const named = account ?? (credential.account === '' ? undefined : credential.account);
    const meant = named ?? this.#people.accountsOf(person.id)[0]?.account;
    const place = meant === undefined ? undefined : this.#people.place(meant, person.id);
    // A path without an account is for every person who has signed in.
    if (place === undefined && named !== undefined) {
      throw new ServiceError('out-of-scope', `You are no contributor of an account '${named}'.`);
    }
    const own = { id, personId: person.id, csrfToken: () => csrfToken(credential.token) };
    return sessionCaller(own, meant ?? '', place);
  }

  /** Inside a change: a new session of the person. `written` is to be called when the change is on disk; before, it does not work. */
  begin(change: Change, personId: string, origin: Origin): { readonly token: string; written(): void } {
    const own = this.of(personId);
    for (const oldest of own.slice(0, Math.max(0, own.length + 1 - SESSIONS_PER_PERSON_MAX))) this.#end(change, oldest);
    const token = newToken();
    const now = this.#people.clock.nowIso();
    const record: SessionRecord = {
      id: uuidv7(),
      person_id: personId,
      token_hash: tokenHash(token),
      created_utc: now,
      last_used_utc: now,
      address: origin.address,
      user_agent: origin.userAgent.slice(0, USER_AGENT_CHARACTERS_MAX),
    };
    change.put(this.#sessions, record.id, record);
    return { token, written: () => this.#activate(record) };
  }

  /** Of one person, in order of their last use; those that are over are left out. */
  of(personId: string): readonly SessionRecord[] {
    const nowMs = this.#people.clock.nowMs();
    return Array.from(this.#byPerson.of(personId), ({ token_hash }) => this.#active.get(token_hash))
      .filter((session) => session !== undefined)
      .filter((session) => !isOver(session, nowMs))
      .sort((a, b) => a.lastUsedMs - b.lastUsedMs)
      .map(({ record, lastUsedMs }) => ({ ...record, last_used_utc: new Date(lastUsedMs).toISOString() }));
  }

  /** The session itself; undefined where it is over, or another person's. */
  find(personId: string, id: string): SessionRecord | undefined {
    return this.of(personId).find((session) => session.id === id);
  }

  /** Ends a session: at once, before that is on disk. */
  end(record: SessionRecord): Promise<void> {
    return this.#people.store.change((change) => {
      this.#end(change, record);
    });
  }

  /** Inside a change: ends all of a person's but one. */
  endOthers(change: Change, personId: string, keptId: string | undefined): void {
    for (const record of this.#byPerson.of(personId)) if (record.id !== keptId) this.#end(change, record);
  }

  /** Inside a change: forgets those that are over. */
  removeOver(change: Change): void {
    const nowMs = this.#people.clock.nowMs();
    for (const session of this.#active.values()) {
      if (isOver(session, nowMs)) this.#end(change, session.record);
    }
  }

  #end(change: Change, record: SessionRecord): void {
    // Before it is on disk: whoever is shut out must not get in while that is awaited.
    this.#active.delete(record.token_hash);
    change.remove(this.#sessions, record.id);
  }

  #activate(record: SessionRecord): void {
    const lastUsedMs = Date.parse(record.last_used_utc);
    this.#active.set(record.token_hash, { record, lastUsedMs, storedMs: lastUsedMs });
  }

  #used(session: ActiveSession, nowMs: number): void {
    session.lastUsedMs = nowMs;
    if (Math.abs(nowMs - session.storedMs) < LAST_USE_STORED_MS) return;
    session.storedMs = nowMs;
    const last_used_utc = new Date(nowMs).toISOString();
    // What cannot be written shortens the session after a restart, and nothing else.
    void this.#people.store
      .change((change) => {
        const { record } = session;
        if (this.#active.has(record.token_hash)) change.put(this.#sessions, record.id, { ...record, last_used_utc });
      })
      .catch(() => undefined);
  }
}

/** Also where it was used last in a time that is yet to come: the clock was wrong then, and the session would last for as long. */
function isOver({ lastUsedMs }: ActiveSession, nowMs: number): boolean {
  return Math.abs(nowMs - lastUsedMs) >= SESSION_IDLE_MS_MAX;
}

/** Only a page of this service knows the token; a browser that says that another site asks is believed. */
function assertOwnPage({ token, csrfToken: given, fetchSite }: SessionCredential): void {
  const isOwnSite = fetchSite === '' || fetchSite === 'same-origin' || fetchSite === 'none';
  if (isOwnSite && isSameToken(given, csrfToken(token))) return;
  throw new ServiceError(
    'csrf-token',
    "Requests of a session that change anything carry its token, which GET /session answers, in the header 'X-CSRF-Token'.",
  );
}

function sessionCaller(session: PersonSession, account: string, place: RolePlace | undefined): Caller {
  return {
    kind: 'console',
    account,
    key: undefined,
    session,
    can: (permission) => place !== undefined && roleAllows(place, permission),
  };
}

function notSignedIn(): ServiceError {
  return new ServiceError('not-signed-in', 'The session has ended: sign in again.');
}
