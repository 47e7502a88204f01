/** Operations as queries and changes: what is read is kept by operation and input, and read anew after every change. */
import { QueryCache, QueryClient, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { client, ConnectionLost, ServiceProblem, type AnyInput, type Call } from './client.js';

const RETRIES_MAX = 2;

/** Told when the session has ended. */
let onSignedOut: () => void = () => undefined;

export function whenSignedOut(tell: () => void): void {
  onSignedOut = tell;
}

export const queries = new QueryClient({
  queryCache: new QueryCache({ onError: noticeSignedOut }),
  defaultOptions: {
    queries: {
      // What the service refuses, it refuses again; a connection may come back.
      retry: (failures, error) => error instanceof ConnectionLost && failures < RETRIES_MAX,
      staleTime: 2_000,
    },
    mutations: { onError: noticeSignedOut },
  },
});

function noticeSignedOut(error: unknown): void {
  if (isSignedOut(error)) onSignedOut();
}

export function isSignedOut(error: unknown): boolean {
  return error instanceof ServiceProblem && error.status === 401 && error.code !== 'sign-in-failed';
}

/** Of an operation that only looks. */
export function reading<Input extends AnyInput, Output>(call: Call<Input, Output>, input: Input) {
  return queryOptions<Output>({
    queryKey: [call.route.name, input],
    // An answer without a body is no value to a query.
    queryFn: async ({ signal }) => (await call(client, input, { signal })) ?? (null as Output),
  });
}

/** The same where there may be none: null then, which stays while it is read again, as an error does not. */
export function readingOrNone<Input extends AnyInput, Output>(call: Call<Input, Output>, input: Input) {
  return queryOptions<Output | null>({
    queryKey: [call.route.name, input, 'or-none'],
    queryFn: async ({ signal }) => {
      try {
        return await call(client, input, { signal });
      } catch (error) {
        if (error instanceof ServiceProblem && error.status === 404) return null;
        throw error;
      }
    },
  });
}

/** Entries that one answer holds, so that none is long. */
const PAGE_ENTRIES = 200;
/** More pages are not read: nobody looks through more than this many entries. */
const PAGES_MAX = 100;

interface Paged {
  readonly next?: string | undefined;
}

/** Of an operation that lists in pages: all of them as one answer. */
export function readingAll<Input extends AnyInput, Output extends Paged>(call: Call<Input, Output>, input: Input) {
  return queryOptions<Output>({
    queryKey: [call.route.name, input],
    queryFn: async ({ signal }) => {
      const page = (after: object): Promise<Output> =>
        call(client, { ...input, query: { ...input.query, ...after, size: PAGE_ENTRIES } }, { signal });
      let whole = await page({});
      for (let pages = 1; whole.next !== undefined && pages < PAGES_MAX; pages += 1) {
        whole = joined(whole, await page({ after: whole.next }));
      }
      return whole;
    },
  });
}

/** Lists of both, one behind the other; the rest is that of the later page. */
export function joined<Page extends object>(earlier: Page, later: Page): Page {
  const before = Object.entries(earlier).filter(([, value]) => Array.isArray(value)) as [keyof Page, unknown[]][];
  const lists = before.map(([name, entries]) => [name, [...entries, ...((later[name] ?? []) as unknown[])]]);
  return { ...later, ...(Object.fromEntries(lists) as Partial<Page>) };
}

/** Of an operation that changes something: whatever is shown is read anew. */
export function useChange<Input extends AnyInput, Output>(call: Call<Input, Output>) {
  return useChangeBy((input: Input) => call(client, input));
}

/** The same of a change that takes several calls. */
export function useChangeBy<Input, Output>(change: (input: Input) => Promise<Output>) {
  const cache = useQueryClient();
  return useMutation<Output, Error, Input>({ mutationFn: change, onSuccess: () => cache.invalidateQueries() });
}
