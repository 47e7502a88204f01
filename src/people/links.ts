/** One-time sign-in links: the first one, those that an operator requests, and invitations. Main thread only. */
import type { Change, Collection, GroupedBy } from '../catalog/index.js';
import type { People } from './people.js';
import { newToken, tokenHash } from './tokens.js';
import type { LinkRecord } from './types.js';

const HOUR_MS = 3_600_000;
export const SIGN_IN_LINK_HOURS = 24;
export const INVITATION_HOURS = 7 * 24;
/**
 * Clocks are corrected by seconds all the time; a link created further in the future than this comes from a wrong
 * clock, and is invalid.
 */
const MADE_AHEAD_MS_MAX = HOUR_MS;
/** Per person; a new link replaces the oldest. */
const LINKS_PER_PERSON_MAX = 5;

export class Links {
  readonly #people: People;
  readonly #links: Collection<LinkRecord>;
  readonly #byPerson: GroupedBy<LinkRecord>;

  constructor(people: People) {
    this.#people = people;
    this.#links = people.store.collection('sign-in-links');
    this.#byPerson = this.#links.groupBy(({ person_id }) => person_id);
  }

  /** Inside a change: creates a link and returns its token. */
  make(change: Change, personId: string, hours: number): { readonly token: string; readonly expires_utc: string } {
    const nowMs = this.#people.clock.nowMs();
    const own = [...this.#byPerson.of(personId)];
    own.sort((a, b) => (a.created_utc < b.created_utc ? -1 : 1));
    for (const link of own.slice(0, Math.max(0, own.length + 1 - LINKS_PER_PERSON_MAX))) this.#remove(change, link);
    const token = newToken();
    const expires_utc = new Date(nowMs + hours * HOUR_MS).toISOString();
    const created_utc = new Date(nowMs).toISOString();
    const link: LinkRecord = { token_hash: tokenHash(token), person_id: personId, created_utc, expires_utc };
    change.put(this.#links, link.token_hash, link);
    return { token, expires_utc };
  }

  /** Returns whose link it is. Undefined if it was used, has expired or never existed. */
  personOf(token: string): string | undefined {
    const link = this.#links.get(tokenHash(token));
    return link !== undefined && !isOver(link, this.#limits()) ? link.person_id : undefined;
  }

  /** Inside a change: invalidates the link. */
  use(change: Change, token: string): void {
    const link = this.#links.get(tokenHash(token));
    if (link !== undefined) this.#remove(change, link);
  }

  /** Inside a change: removes the links of a person. */
  forget(change: Change, personId: string): void {
    for (const link of this.#byPerson.of(personId)) this.#remove(change, link);
  }

  /** Inside a change: removes expired links. */
  removeOver(change: Change): void {
    const limits = this.#limits();
    for (const link of this.#links.values()) if (isOver(link, limits)) this.#remove(change, link);
  }

  /** True if the person was invited and has not signed in yet. */
  isAwaited(personId: string): boolean {
    const limits = this.#limits();
    return [...this.#byPerson.of(personId)].some((link) => !isOver(link, limits));
  }

  #remove(change: Change, link: LinkRecord): void {
    change.remove(this.#links, link.token_hash);
  }

  #limits(): Limits {
    const nowMs = this.#people.clock.nowMs();
    return { now: timeText(nowMs), latest: timeText(nowMs + MADE_AHEAD_MS_MAX) };
  }
}

/** Limits as ISO text, which sorts by time: a sign-in compares all links, of which there may be ten thousand. */
interface Limits {
  readonly now: string;
  readonly latest: string;
}

function isOver({ created_utc, expires_utc }: LinkRecord, { now, latest }: Limits): boolean {
  return expires_utc <= now || created_utc > latest;
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
