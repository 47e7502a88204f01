/**
 * Sessions of people. They end 12 hours after their last use, by the person, by a changed password, or with the
 * person's last account. Stored on disk, so that a restart signs nobody out. Main thread only.
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
/** How far the stored time of last use may lag behind: a restart shortens a session by at most this. */
const LAST_USE_STORED_MS = 600_000;
/** Per person; the least recently used session ends. */
const SESSIONS_PER_PERSON_MAX = 50;
const USER_AGENT_CHARACTERS_MAX = 256;

/** Where somebody signs in from. */
export interface Origin {
  readonly address: string;
  readonly userAgent: string;
}

/** A valid session, as requests need it. */
interface ActiveSession {
  readonly record: SessionRecord;
  lastUsedMs: number;
  storedMs: number;
}

export class Sessions implements SessionAuthenticator {
  readonly #people: People;
  readonly #sessions: Collection<SessionRecord>;
  readonly #byPerson: GroupedBy<SessionRecord>;
  /** Keyed by the hash of the token. */
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
    // Paths without an account are open to every signed-in person.
    if (place === undefined && named !== undefined) {
      throw new ServiceError('out-of-scope', `You have no role in an account '${named}'.`);
    }
    const own = { id, personId: person.id, csrfToken: () => csrfToken(credential.token) };
    return sessionCaller(own, meant ?? '', place);
  }

  /** Inside a change: creates a session. Call `written` when the change is on disk; the session is not valid before. */
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

  /** Returns the valid sessions of a person, least recently used first. */
  of(personId: string): readonly SessionRecord[] {
    const nowMs = this.#people.clock.nowMs();
    return Array.from(this.#byPerson.of(personId), ({ token_hash }) => this.#active.get(token_hash))
      .filter((session) => session !== undefined)
      .filter((session) => !isOver(session, nowMs))
      .sort((a, b) => a.lastUsedMs - b.lastUsedMs)
      .map(({ record, lastUsedMs }) => ({ ...record, last_used_utc: new Date(lastUsedMs).toISOString() }));
  }

  /** Undefined if the session has ended or belongs to another person. */
  find(personId: string, id: string): SessionRecord | undefined {
    return this.of(personId).find((session) => session.id === id);
  }

  /** Ends a session, at once: even before that is on disk. */
  end(record: SessionRecord): Promise<void> {
    return this.#people.store.change((change) => {
      this.#end(change, record);
    });
  }

  /** Inside a change: ends all sessions of a person except one. */
  endOthers(change: Change, personId: string, keptId: string | undefined): void {
    for (const record of this.#byPerson.of(personId)) if (record.id !== keptId) this.#end(change, record);
  }

  /** Inside a change: removes sessions that are over. */
  removeOver(change: Change): void {
    const nowMs = this.#people.clock.nowMs();
    for (const session of this.#active.values()) {
      if (isOver(session, nowMs)) this.#end(change, session.record);
    }
  }

  #end(change: Change, record: SessionRecord): void {
    // At once, so that it cannot be used while the change is being written.
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
    // A failed write only shortens the session after a restart.
    void this.#people.store
      .change((change) => {
        const { record } = session;
        if (this.#active.has(record.token_hash)) change.put(this.#sessions, record.id, { ...record, last_used_utc });
      })
      .catch(() => undefined);
  }
}

/**
 * True if the session is over. Also if its last use is far in the future: the clock was wrong then, and the session
 * would last too long.
 */
function isOver({ lastUsedMs }: ActiveSession, nowMs: number): boolean {
  return Math.abs(nowMs - lastUsedMs) >= SESSION_IDLE_MS_MAX;
}

/**
 * Throws if the request does not come from a page of this service. Only such a page knows the token; a browser's
 * statement that another site sent the request is believed.
 */
function assertOwnPage({ token, csrfToken: given, fetchSite }: SessionCredential): void {
  const isOwnSite = fetchSite === '' || fetchSite === 'same-origin' || fetchSite === 'none';
  if (isOwnSite && isSameToken(given, csrfToken(token))) return;
  throw new ServiceError(
    'csrf-token',
    "A request of a session that changes something must send the CSRF token of the session, which GET /session returns, in the header 'X-CSRF-Token'.",
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
