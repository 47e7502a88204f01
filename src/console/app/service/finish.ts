/** Navigation after any kind of sign-in. */
import { useRouter } from '@tanstack/react-router';
import { queries } from './queries.js';
import { keptSession, sessionQuery } from './session.js';

/** Reads the session and goes where the person wanted to go. */
export function useFinish(to: string | undefined): () => Promise<void> {
  const router = useRouter();
  return async () => {
    queries.clear();
    const session = await keptSession();
    queries.setQueryData(sessionQuery.queryKey, session);
    const home = session.accounts[0]?.name ?? '';
    await router.navigate({ to: insidePath(to) ?? '/$account', params: { account: home }, replace: true });
  };
}

/** Accepts only paths of the console, so that a link to the sign-in cannot redirect elsewhere. */
function insidePath(to: string | undefined): string | undefined {
  return to !== undefined && /^\/(?![/\\])[^\\]*$/.test(to) && !to.startsWith('/sign-in') ? to : undefined;
}
