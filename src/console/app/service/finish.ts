/** After a sign-in, whatever by. */
import { useRouter } from '@tanstack/react-router';
import { queries } from './queries.js';
import { keptSession, sessionQuery } from './session.js';

/** Reads who is signed in, and goes where the person wanted to go. */
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

/** A path of the console and nothing else: whoever made a link to this page does not choose where it leads. */
function insidePath(to: string | undefined): string | undefined {
  return to !== undefined && /^\/(?![/\\])[^\\]*$/.test(to) && !to.startsWith('/sign-in') ? to : undefined;
}
