/** Creates sessions by email and password, by a one-time link, or by an OpenID provider. Main thread only. */
import { assertAccount, type Change } from '../catalog/index.js';
import { ServiceError, type Clock } from '../platform/index.js';
import { addressSubject, AttemptThrottle, type Attempt } from './attempts.js';
import { INVITATION_HOURS, Links, SIGN_IN_LINK_HOURS } from './links.js';
import { emailKey, type People, type Contributor } from './people.js';
import type { Identity } from './openid.js';
import { Passwords } from './passwords.js';
import { Sessions, type Origin } from './sessions.js';
import type { PersonRecord, Role } from './types.js';
import { SIGN_IN_FAILED } from './problems.js';

export interface PasswordSignIn {
  readonly email: string;
  readonly password: string;
}

export interface LinkSignIn {
  readonly link: string;
  /** New password. Ends the person's other sessions. */
  readonly password?: string;
  /** For a person without email. */
  readonly email?: string;
}

export interface SignedIn {
  readonly person: PersonRecord;
  /** Token of the new session; known only to the browser. */
  readonly token: string;
}

export interface NewLink {
  readonly token: string;
  readonly expires_utc: string;
}

/** Inside a change: creates an account for a person with this email, and returns its name. */
export type NewAccount = (change: Change, email: string) => string;

export class SignIn {
  readonly people: People;
  readonly sessions: Sessions;
  readonly links: Links;
  readonly #passwords: Passwords;
  readonly #attempts: AttemptThrottle;

  readonly #newAccount: NewAccount | undefined;

  /** `newAccount` is undefined if only invited people may sign in. */
  constructor(people: People, clock: Clock, newAccount?: NewAccount, passwords = new Passwords()) {
    this.people = people;
    this.#passwords = passwords;
    this.#newAccount = newAccount;
    this.sessions = new Sessions(people);
    this.links = new Links(people);
    this.#attempts = new AttemptThrottle(clock);
  }

  /**
   * Rejects with `sign-in-failed` (the same for an unknown email and a wrong password), `rate-limited` or
   * `overloaded`.
   */
  async byPassword({ email, password }: PasswordSignIn, origin: Origin): Promise<SignedIn> {
    const attempt = this.#attempts.begin([addressSubject(origin.address), `email ${emailKey(email)}`]);
    const known = this.people.personOf(email);
    const isRight = await this.#compare(known?.password_hash ?? null, password, attempt);
    if (!isRight || known === undefined) throw new ServiceError(SIGN_IN_FAILED, 'The email or the password is wrong.');
    // Taken back before the session is written, since the password was right even if that fails.
    attempt.takeBack();
    return this.#begin(origin, () => {
      const person = this.#person(known.id);
      // The password may have changed while it was being compared.
      if (person.password_hash !== known.password_hash) {
        throw new ServiceError(SIGN_IN_FAILED, 'The email or the password is wrong.');
      }
      return person;
    });
  }

  /**
   * Rejects with `sign-in-failed`, `invalid-parameter` if a password has to be chosen, `rate-limited` or `overloaded`.
   */
  async byLink({ link, password, email }: LinkSignIn, origin: Origin): Promise<SignedIn> {
    const attempt = this.#attempts.begin([addressSubject(origin.address)]);
    const invited = this.#personOfLink(link);
    attempt.takeBack();
    if (invited.password_hash === null && invited.email !== null && password === undefined) {
      const detail = 'Choose a password. You will need it for the next sign-in.';
      throw new ServiceError('invalid-parameter', detail, { errors: [{ pointer: '/password', detail }] });
    }
    const password_hash = password === undefined ? undefined : await this.#passwords.hash(password);
    return this.#begin(origin, (change) => {
      const person = this.#person(invited.id);
      // Checked again: of two simultaneous uses of a link, the second fails.
      this.#personOfLink(link);
      this.links.use(change, link);
      const own = email !== undefined && person.email === null ? emailKey(email) : person.email;
      const changed = { ...person, email: own, password_hash: password_hash ?? person.password_hash };
      if (changed.email !== person.email || password_hash !== undefined) this.people.update(change, changed);
      if (password_hash !== undefined) this.sessions.endOthers(change, person.id, undefined);
      return changed;
    });
  }

  /**
   * Signs in a person whom a provider vouches for: an invited one or, if newcomers may sign up, anybody. The first
   * sign-in binds the provider's account; another one with the same provider is then refused. Rejects with
   * `sign-in-failed`, what `identify` rejects with, or `rate-limited`.
   */
  async byIdentity(identify: () => Promise<Identity>, origin: Origin): Promise<SignedIn> {
    const attempt = this.#attempts.begin([addressSubject(origin.address)]);
    const { email, issuer, subject } = await identify();
    let isNew = false;
    const signedIn = await this.#begin(origin, (change) => {
      const known = this.people.personOf(email);
      isNew = known === undefined;
      const person = known ?? this.#newcomer(change, email);
      const bound = person.openid;
      if (bound?.issuer === issuer && bound.subject !== subject) {
        throw new ServiceError(SIGN_IN_FAILED, 'This email already signs in with another account of the provider.');
      }
      const changed = { ...person, openid: { issuer, subject } };
      if (bound?.issuer !== issuer) this.people.update(change, changed);
      return changed;
    });
    // New accounts count like failures, so that nobody creates a thousand of them.
    if (!isNew) attempt.takeBack();
    return signedIn;
  }

  /**
   * Sets a new password, ends all other sessions of the person, and invalidates their links. Rejects with
   * `sign-in-failed` if the old password is wrong; a person without password needs none.
   */
  async changePassword(
    session: { readonly id: string; readonly personId: string; readonly address: string },
    wanted: {
      readonly oldPassword: string | undefined;
      readonly newPassword: string;
      readonly email: string | undefined;
    },
  ): Promise<PersonRecord> {
    const { personId } = session;
    const known = this.#person(personId);
    if (known.password_hash !== null) {
      const attempt = this.#attempts.begin([addressSubject(session.address), `person ${personId}`]);
      if (!(await this.#compare(known.password_hash, wanted.oldPassword ?? '', attempt))) {
        throw new ServiceError(SIGN_IN_FAILED, 'The old password is wrong.');
      }
      attempt.takeBack();
    }
    const password_hash = await this.#passwords.hash(wanted.newPassword);
    return this.people.store.change((change) => {
      const person = this.#person(personId);
      if (person.password_hash !== known.password_hash) {
        throw new ServiceError(SIGN_IN_FAILED, 'The password was changed during the request.');
      }
      const email = wanted.email === undefined ? person.email : emailKey(wanted.email);
      if (email !== person.email && (person.email !== null || person.openid !== undefined)) {
        // A person could otherwise take somebody else's email, and the invitations meant for it: no mail is sent that
        // could prove whose it is.
        const detail =
          person.openid === undefined
            ? 'Your email cannot be changed: it is the one that you were invited by. To use another one, have it invited, and sign in with it.'
            : 'Your email cannot be changed here: it is the one that your OpenID provider confirms.';
        throw new ServiceError('invalid-parameter', detail, { errors: [{ pointer: '/email', detail }] });
      }
      if (email === null) {
        const detail = 'Give the email that you sign in with.';
        throw new ServiceError('invalid-parameter', detail, { errors: [{ pointer: '/email', detail }] });
      }
      const changed = { ...person, email, password_hash };
      this.people.update(change, changed);
      this.sessions.endOthers(change, personId, session.id);
      this.links.forget(change, personId);
      return changed;
    });
  }

  /** Adds a contributor. A person without password gets a link to sign in. Rejects with `name-exists` or `conflict`. */
  invite(account: string, wanted: { readonly email: string; readonly role: Role }) {
    return this.people.store.change((change): Contributor & { readonly link: NewLink | undefined } => {
      assertAccount(this.people.store, account);
      const added = this.people.add(change, account, wanted);
      const link =
        added.person.password_hash === null ? this.links.make(change, added.person.id, INVITATION_HOURS) : undefined;
      return { ...added, link };
    });
  }

  /**
   * Creates a link that an operator hands out. With `email` undefined, it is for the account's first owner, who is
   * created if there is none. A person with the email who is not a contributor yet becomes one, with `role`.
   */
  linkFor(account: string, { email, role }: { readonly email: string | undefined; readonly role: Role }) {
    return this.people.store.change((change): { readonly person: PersonRecord; readonly link: NewLink } => {
      assertAccount(this.people.store, account);
      const person =
        this.#personFor(account, email) ?? this.people.add(change, account, { email: email ?? null, role }).person;
      return { person, link: this.links.make(change, person.id, SIGN_IN_LINK_HOURS) };
    });
  }

  /** Inside a change that removes a person: ends their sessions and removes their links. */
  left(change: Change, personId: string): void {
    this.sessions.endOthers(change, personId, undefined);
    this.links.forget(change, personId);
  }

  /** Compares a password. If it could not be compared because too many sign-ins wait, the attempt does not count. */
  async #compare(kept: string | null, password: string, attempt: Attempt): Promise<boolean> {
    try {
      return await this.#passwords.verify(kept, password);
    } catch (error) {
      attempt.takeBack();
      throw error;
    }
  }

  #personFor(account: string, email: string | undefined): PersonRecord | undefined {
    if (email === undefined) return this.people.ownerOf(account);
    const person = this.people.personOf(email);
    return person !== undefined && this.people.role(account, person.id) !== undefined ? person : undefined;
  }

  async #begin(origin: Origin, decide: (change: Change) => PersonRecord): Promise<SignedIn> {
    const { person, session } = await this.people.store.change((change) => {
      const decided = decide(change);
      this.sessions.removeOver(change);
      this.links.removeOver(change);
      return { person: decided, session: this.sessions.begin(change, decided.id, origin) };
    });
    session.written();
    return { person, token: session.token };
  }

  /** Creates a person who owns a new account. */
  #newcomer(change: Change, email: string): PersonRecord {
    if (this.#newAccount === undefined) throw new ServiceError(SIGN_IN_FAILED, `Nobody has invited ${email} yet.`);
    return this.people.add(change, this.#newAccount(change, email), { email, role: 'owner' }).person;
  }

  #personOfLink(link: string): PersonRecord {
    const id = this.links.personOf(link);
    const person = id === undefined ? undefined : this.people.person(id);
    if (person !== undefined) return person;
    throw new ServiceError(
      SIGN_IN_FAILED,
      'This link was already used, is too old, or is incomplete. Ask for another one.',
    );
  }

  #person(id: string): PersonRecord {
    const person = this.people.person(id);
    if (person === undefined) throw new ServiceError(SIGN_IN_FAILED, 'This person has no role in an account any more.');
    return person;
  }
}
