/**
 * Operations as queries and mutations: answers are cached by operation and input, and invalidated after every change.
 */
import { QueryCache, QueryClient, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { client, ConnectionLost, ServiceProblem, type AnyInput, type Call } from './client.js';
import { tellOtherTabs } from './other-tabs.js';

const RETRIES_MAX = 2;

/** Called when the session has ended. */
let onSignedOut: () => void = () => undefined;

export function whenSignedOut(tell: () => void): void {
  onSignedOut = tell;
}

export const queries = new QueryClient({
  queryCache: new QueryCache({ onError: noticeSignedOut }),
  defaultOptions: {
    queries: {
      // Refusals are permanent, while a connection may come back.
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

/** Query of a read-only operation. */
export function reading<Input extends AnyInput, Output>(call: Call<Input, Output>, input: Input) {
  return queryOptions<Output>({
    queryKey: [call.route.name, input],
    // A query's value must not be undefined, as that of an answer without a body is.
    queryFn: async ({ signal }) => (await call(client, input, { signal })) ?? (null as Output),
  });
}

/**
 * Like `reading`, for something that may not exist: null then, which stays visible while it is read again, unlike an
 * error.
 */
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

/** Entries per answer, to keep answers short. */
const PAGE_ENTRIES = 200;
/** Limit on pages read: nobody looks through more entries. */
const PAGES_MAX = 100;

interface Paged {
  readonly next?: string | undefined;
}

/** Query of an operation with pages: reads all of them as one answer. */
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

/** Concatenates the arrays of two pages; other members are those of the later page. */
export function joined<Page extends object>(earlier: Page, later: Page): Page {
  const before = Object.entries(earlier).filter(([, value]) => Array.isArray(value)) as [keyof Page, unknown[]][];
  const lists = before.map(([name, entries]) => [name, [...entries, ...((later[name] ?? []) as unknown[])]]);
  return { ...later, ...(Object.fromEntries(lists) as Partial<Page>) };
}

/** Reads all queries again after a change, here and in other tabs. */
export function readAgain(cache: QueryClient): Promise<void> {
  tellOtherTabs();
  return cache.invalidateQueries();
}

/** Reads queries again after a change in another tab. A search is not repeated, since each one counts. */
export function readAgainUnasked(): void {
  const isSearch = (name: unknown): boolean => typeof name === 'string' && name.startsWith('search.');
  void queries.invalidateQueries({ predicate: ({ queryKey: [name] }) => !isSearch(name) });
}

/** Mutation by an operation, after which all queries are read again. */
export function useChange<Input extends AnyInput, Output>(call: Call<Input, Output>) {
  return useChangeBy((input: Input) => call(client, input));
}

/** Like `useChange`, for a change that takes several calls. */
export function useChangeBy<Input, Output>(change: (input: Input) => Promise<Output>) {
  const cache = useQueryClient();
  return useMutation<Output, Error, Input>({ mutationFn: change, onSuccess: () => readAgain(cache) });
}
