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

/** Of an operation that changes something: whatever is shown is read anew. */
export function useChange<Input extends AnyInput, Output>(call: Call<Input, Output>) {
  const cache = useQueryClient();
  return useMutation<Output, Error, Input>({
    mutationFn: (input) => call(client, input),
    onSuccess: () => cache.invalidateQueries(),
  });
}
