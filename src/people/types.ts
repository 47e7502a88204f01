/** People: who signs in, of which accounts they are contributors, and what is kept of their sessions and links. */

export const ROLES = ['owner', 'editor', 'viewer'] as const;
export type Role = (typeof ROLES)[number];

export interface PersonRecord {
  readonly id: string;
  /** In lower case. Null for who came by a one-time link and has named none yet. */
  readonly email: string | null;
  /** Argon2id with its parameters and salt, as text. Null: signs in by links alone. */
  readonly password_hash: string | null;
  readonly created_utc: string;
  /** The account at an OpenID provider that this person signs in with; absent where they never did. */
  readonly openid?: { readonly issuer: string; readonly subject: string };
}

/** One person of one account. */
export interface ContributorRecord {
  readonly account: string;
  readonly person_id: string;
  readonly role: Role;
  readonly added_utc: string;
}

export interface SessionRecord {
  readonly id: string;
  readonly person_id: string;
  /** Hexadecimal SHA-256 of the token, which only the browser has. */
  readonly token_hash: string;
  readonly created_utc: string;
  /** To some minutes; what is exact is in memory. */
  readonly last_used_utc: string;
  /** Of the client at the sign-in, for people to tell their sessions apart. */
  readonly address: string;
  readonly user_agent: string;
}

/** Signs in once: a person who has lost the password, has none yet, or was invited. */
export interface LinkRecord {
  /** Hexadecimal SHA-256 of the token. */
  readonly token_hash: string;
  readonly person_id: string;
  readonly created_utc: string;
  readonly expires_utc: string;
}
