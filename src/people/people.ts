/**
 * People, and the accounts of which they are contributors, stored in the `system` environment. Main thread only.
 *
 * Invariant: an account that ever had an owner has one.
 */
import { CollectionStore, compositeKey, type Change, type Collection, type GroupedBy } from '../catalog/index.js';
import {
  pageOf,
  ServiceError,
  uuidv7,
  type Clock,
  type EventContent,
  type LmdbEnvironment,
  type Page,
  type WantedPage,
} from '../platform/index.js';
import type { RolePlace } from './roles.js';
import type { ContributorRecord, PersonRecord, Role } from './types.js';
import { CONTRIBUTOR_NOT_FOUND } from './problems.js';

/** Per account. */
const CONTRIBUTORS_MAX = 10_000;
/** Contributors of a deleted account removed per transaction, so that other changes get their turn. */
const REMOVED_AT_ONCE_MAX = 500;

/** A contributor and the person. */
export interface Contributor {
  readonly person: PersonRecord;
  readonly contributor: ContributorRecord;
}

/** Removes what else belongs to a person, in the transaction that changes their rights. */
export interface LeavingPerson {
  left(change: Change, personId: string): void;
}

export class People {
  readonly store: CollectionStore;
  readonly #persons: Collection<PersonRecord>;
  readonly #contributors: Collection<ContributorRecord>;
  /** Keyed by email; '' for people without one. */
  readonly #byEmail: GroupedBy<PersonRecord>;
  readonly #byPerson: GroupedBy<ContributorRecord>;
  readonly #byAccount: GroupedBy<ContributorRecord>;

  constructor(
    environment: LmdbEnvironment,
    readonly clock: Clock,
    /** Account created at the first start; its owners run the service. */
    private readonly serviceAccount: string,
  ) {
    this.store = CollectionStore.of(environment);
    this.#persons = this.store.collection('people');
    this.#contributors = this.store.collection('contributors');
    this.#byEmail = this.#persons.groupBy(({ email }) => email ?? '');
    this.#byPerson = this.#contributors.groupBy(({ person_id }) => person_id);
    this.#byAccount = this.#contributors.groupBy(({ account }) => account);
  }

  get isEmpty(): boolean {
    return this.#persons.size === 0;
  }

  person(id: string): PersonRecord | undefined {
    return this.#persons.get(id);
  }

  personOf(email: string): PersonRecord | undefined {
    const wanted = emailKey(email);
    if (wanted === '') return undefined;
    const [person] = this.#byEmail.of(wanted);
    return person;
  }

  role(account: string, personId: string): Role | undefined {
    return this.#contributors.get(compositeKey(account, personId))?.role;
  }

  /** Undefined if the person is not a contributor of the account. */
  place(account: string, personId: string): RolePlace | undefined {
    const role = this.role(account, personId);
    return role === undefined ? undefined : { role, isOfService: account === this.serviceAccount };
  }

  /** Returns the accounts of a person, sorted by name. */
  accountsOf(personId: string): readonly ContributorRecord[] {
    return [...this.#byPerson.of(personId)].sort((a, b) => (a.account < b.account ? -1 : 1));
  }

  /** Returns the owner; of several, the one who first joined any account. Undefined if the account has none. */
  ownerOf(account: string): PersonRecord | undefined {
    for (const { contributor, person } of this.#contributorsOf(account))
      if (contributor.role === 'owner') return person;
    return undefined;
  }

  contributorPage(account: string, { after, size }: WantedPage): Page<Contributor> {
    return pageOf(this.#contributorsOf(account, after), ({ person }) => person.id, size);
  }

  /** Yields contributors in the order of person ids, which is the order in which people first joined any account. */
  *#contributorsOf(account: string, after?: string): Generator<Contributor> {
    for (const contributor of this.#contributors.from(compositeKey(account, ''), after)) {
      const person = this.#persons.get(contributor.person_id);
      if (person !== undefined) yield { person, contributor };
    }
  }

  /** Throws `contributor-not-found`. */
  contributor(account: string, personId: string): Contributor {
    const contributor = this.#contributors.get(compositeKey(account, personId));
    const person = this.#persons.get(personId);
    if (contributor !== undefined && person !== undefined) return { contributor, person };
    throw new ServiceError(CONTRIBUTOR_NOT_FOUND, `The account '${account}' has no person with this id.`);
  }

  /**
   * Inside a change: makes the person with this email a contributor of the account, creating the person if necessary.
   * With `email` null, creates a person without email. Throws `name-exists` if they are a contributor already.
   */
  add(change: Change, account: string, wanted: { readonly email: string | null; readonly role: Role }): Contributor {
    const email = wanted.email === null ? null : emailKey(wanted.email);
    if (this.#byAccount.countOf(account) >= CONTRIBUTORS_MAX) {
      throw new ServiceError(
        'conflict',
        `The account already has ${CONTRIBUTORS_MAX} contributors, the most that it can have: remove one first.`,
      );
    }
    const now = this.clock.nowIso();
    const known = email === null ? undefined : this.personOf(email);
    const person = known ?? { id: uuidv7(), email, password_hash: null, created_utc: now };
    const key = compositeKey(account, person.id);
    if (this.#contributors.has(key)) {
      throw new ServiceError('name-exists', `${email ?? 'This person'} already has a role in the account.`);
    }
    const contributor = { account, person_id: person.id, role: wanted.role, added_utc: now };
    if (known === undefined) change.put(this.#persons, person.id, person);
    change.put(this.#contributors, key, contributor);
    change.emit(account, contributorEvent('contributor.added', { person, contributor }));
    return { person, contributor };
  }

  /** Rejects with `contributor-not-found`, and with `conflict` if no owner would be left. */
  setRole(account: string, personId: string, role: Role): Promise<Contributor> {
    return this.store.change((change) => {
      const { person, contributor } = this.contributor(account, personId);
      if (role !== 'owner') this.#assertNotLastOwner(contributor);
      const changed = { ...contributor, role };
      change.put(this.#contributors, compositeKey(account, personId), changed);
      return { person, contributor: changed };
    });
  }

  /**
   * Removes a contributor. A person without any other account is deleted, with what `leaving` keeps of them. Rejects
   * like `setRole`.
   */
  remove(account: string, personId: string, leaving: LeavingPerson): Promise<void> {
    return this.store.change((change) => {
      const { contributor } = this.contributor(account, personId);
      this.#assertNotLastOwner(contributor);
      this.#removeOne(change, contributor, leaving);
    });
  }

  /**
   * Removes all contributors of a deleted account, in several transactions. People without any other account are
   * deleted.
   */
  async removeAll(account: string, leaving: LeavingPerson): Promise<void> {
    while (this.#byAccount.countOf(account) > 0) {
      await this.store.change((change) => {
        for (const contributor of first(this.#byAccount.of(account), REMOVED_AT_ONCE_MAX))
          this.#removeOne(change, contributor, leaving);
      });
    }
  }

  #removeOne(change: Change, contributor: ContributorRecord, leaving: LeavingPerson): void {
    const { account, person_id: personId } = contributor;
    const person = this.#persons.get(personId);
    change.remove(this.#contributors, compositeKey(account, personId));
    if (person === undefined) return;
    change.emit(account, contributorEvent('contributor.removed', { person, contributor }));
    if (this.#byPerson.countOf(personId) > 1) return;
    change.remove(this.#persons, personId);
    leaving.left(change, personId);
  }

  /** Inside a change. Throws `name-exists` if somebody else has the email. */
  update(change: Change, person: PersonRecord): void {
    const other = person.email === null ? undefined : this.personOf(person.email);
    if (other !== undefined && other.id !== person.id) {
      throw new ServiceError('name-exists', `Another person already signs in as ${person.email ?? ''}.`);
    }
    change.put(this.#persons, person.id, person);
  }

  #assertNotLastOwner({ account, person_id, role }: ContributorRecord): void {
    if (role !== 'owner') return;
    for (const other of this.#contributorsOf(account)) {
      if (other.contributor.role !== 'owner' || other.person.id === person_id) continue;
      // An owner who used a one-time link and gave no email may never come back, so does not count.
      if (other.person.email !== null) return;
    }
    throw new ServiceError('conflict', 'This is the last owner of the account: make another person an owner first.');
  }
}

function* first<T>(entries: Iterable<T>, count: number): Generator<T> {
  let left = count;
  for (const entry of entries) {
    if (left === 0) return;
    left -= 1;
    yield entry;
  }
}

/** Compares emails in lower case, since hardly any mail server distinguishes `Ann@` from `ann@`. */
export function emailKey(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}

function contributorEvent(
  type: 'contributor.added' | 'contributor.removed',
  { person: { id, email }, contributor: { role, added_utc } }: Contributor,
): EventContent {
  return { type, id, list: '', data: { email, role, added_utc } };
}
