/** Prints answers about people and accounts on the command line. */
import type { AnswerPrinter } from '../operations/index.js';

interface Account {
  readonly name: string;
  readonly region: string;
  readonly created_utc: string;
}

interface Contributor {
  readonly id: string;
  readonly email: string | null;
  readonly role: string;
  readonly state: string;
  readonly added_utc: string;
}

export const linkText: AnswerPrinter = (answer) => {
  const { link, expires_utc } = answer as { readonly link: string; readonly expires_utc: string };
  return `${link}\nOpen it in a browser: it signs in once, until ${expires_utc}.\n`;
};

export function firstLinkText(link: string, expiresUtc: string): string {
  return `Nobody has signed in to the console yet. This link does so once, until ${expiresUtc}:\n${link}\n`;
}

export const accountsText: AnswerPrinter = (answer, { table }) => {
  const { accounts } = answer as { readonly accounts: readonly Account[] };
  return table([['ACCOUNT', 'REGION', 'MADE'], ...accounts.map((each) => [each.name, each.region, each.created_utc])]);
};

export const contributorsText: AnswerPrinter = (answer, { table }) => {
  const { contributors } = answer as { readonly contributors: readonly Contributor[] };
  const rows = contributors.map(({ id, email, role, state, added_utc }) => [
    id,
    email ?? '(none)',
    role,
    state,
    added_utc,
  ]);
  return table([['ID', 'EMAIL', 'ROLE', 'STATE', 'SINCE'], ...rows]);
};
