/** Session of the person, and permissions in the page's account. */
import { useSuspenseQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { text } from '../messages/index.js';
import { callAs, client, sessionRead, type Call, type AnyInput, type SessionReadOutput } from './client.js';
import { isSignedOut, queries } from './queries.js';

export type Session = SessionReadOutput;

export const sessionQuery = {
  queryKey: ['session'],
  staleTime: Infinity,
  /** Null if nobody is signed in. */
  queryFn: async (): Promise<Session | null> => {
    try {
      const session = await sessionRead(client, {});
      callAs({ csrfToken: session.csrf_token });
      return session;
    } catch (error) {
      if (isSignedOut(error)) return null;
      throw error;
    }
  },
};

/** Throws if the browser accepts no cookies: a sign-in would use up a link in vain. */
export function needCookies(): void {
  if (!navigator.cookieEnabled) throw new Error(text.signIn.notKept);
}

/**
 * Returns the session after a sign-in. Rejects if there is none: the browser refused the cookie, or accepts it over TLS
 * only.
 */
export async function keptSession(): Promise<Session> {
  const session = await sessionQuery.queryFn();
  if (session === null) throw new Error(text.signIn.notKept);
  return session;
}

export function forgetSession(): void {
  callAs({ csrfToken: '', account: '' });
  queries.clear();
  queries.setQueryData(sessionQuery.queryKey, null);
}

export function useSession(): Session {
  const { data } = useSuspenseQuery(sessionQuery);
  if (data === null) throw new Error('Sign in to see this page.');
  return data;
}

/** Returns the account in the address. */
export function useAccount(): string {
  return useParams({ strict: false }).account ?? '';
}

/**
 * Returns whether the person may call an operation in this account. What they may not do is hidden, and would be
 * refused.
 */
export function useMay(): (
  call: Call<AnyInput, unknown> | { readonly route: { readonly permission: string | null } },
) => boolean {
  const { accounts } = useSession();
  const account = useAccount();
  const permissions = accounts.find(({ name }) => name === account)?.permissions ?? [];
  return ({ route: { permission } }) => isAllowed(permissions, permission);
}

export function isAllowed(permissions: readonly string[], wanted: string | null): boolean {
  if (wanted === null || wanted === 'public' || permissions.includes('*') || permissions.includes(wanted)) return true;
  return permissions.includes(`${wanted.slice(0, wanted.indexOf(':'))}:*`);
}
