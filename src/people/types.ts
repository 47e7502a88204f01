/** Types of people, contributors, sessions and links as they are stored. */

export const ROLES = ['owner', 'editor', 'viewer'] as const;
export type Role = (typeof ROLES)[number];

export interface PersonRecord {
  readonly id: string;
  /** In lower case. Null for a person who came by a one-time link and has not given one yet. */
  readonly email: string | null;
  /** Argon2id with its parameters and salt, as text. Null if the person signs in without a password. */
  readonly password_hash: string | null;
  readonly created_utc: string;
  /** Account at an OpenID provider with which this person signs in. Absent if they never did. */
  readonly openid?: { readonly issuer: string; readonly subject: string };
}

/** A person's membership in an account. */
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
  /** Accurate to some minutes; the exact time is in memory. */
  readonly last_used_utc: string;
  /** Client at the sign-in, by which people recognise their sessions. */
  readonly address: string;
  readonly user_agent: string;
}

/** One-time sign-in link, for a person who has lost the password, has none yet, or was invited. */
export interface LinkRecord {
  /** Hexadecimal SHA-256 of the token. */
  readonly token_hash: string;
  readonly person_id: string;
  readonly created_utc: string;
  readonly expires_utc: string;
}
