/**
 * Jobs of the account as they go on. One tab listens for all of them: a browser keeps few connections to a service, and a tab that
 * holds one of them for good would soon leave none. Where tabs cannot agree on one (no secure context), each asks now and then.
 */
import { useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { progressRead, progressWatch, targetOf, type ProgressReadOutput } from './client.js';
import { reading } from './queries.js';
import { useAccount } from './session.js';

export type Job = ProgressReadOutput['jobs'][number];

const ASKED_MS = 2_000;
const RETRY_MS = 5_000;
/** Not on a page that was opened by a bare address in the network. */
const locks = (navigator as { readonly locks?: LockManager }).locks;

export function useJobs(): readonly Job[] {
  const account = useAccount();
  const cache = useQueryClient();
  const { data } = useQuery({
    ...reading(progressRead, { params: { account } }),
    refetchInterval: locks === undefined ? ASKED_MS : false,
  });
  useEffect(() => {
    if (locks === undefined) return;
    return shareEvents(locks, account, (told) => {
      show(cache, account, told);
    });
  }, [account, cache]);
  return data?.jobs ?? [];
}

/** What has ended changed something that pages show. */
function show(cache: QueryClient, account: string, told: ProgressReadOutput): void {
  const { queryKey } = reading(progressRead, { params: { account } });
  const before = cache.getQueryData<ProgressReadOutput>(queryKey)?.jobs ?? [];
  cache.setQueryData(queryKey, told);
  const goesOn = (job: Job): boolean => told.jobs.some(({ kind, name }) => kind === job.kind && name === job.name);
  if (before.every(goesOn)) return;
  void cache.invalidateQueries({ predicate: (query) => query.queryKey[0] !== progressRead.route.name });
}

/** Listens, or hears from the tab that does; takes its place when that one is closed. Returns what ends it. */
function shareEvents(manager: LockManager, account: string, onJobs: (told: ProgressReadOutput) => void): () => void {
  const name = `gannet jobs of ${account}`;
  const channel = new BroadcastChannel(name);
  const ended = new AbortController();
  channel.onmessage = ({ data }: MessageEvent<ProgressReadOutput>) => {
    onJobs(data);
  };
  const listen = (): Promise<void> => {
    const stop = listenTo(targetOf(progressWatch.route, { params: { account } }), (told) => {
      channel.postMessage(told);
      onJobs(told);
    });
    return new Promise((resolve) => {
      ended.signal.addEventListener('abort', () => {
        stop();
        resolve();
      });
    });
  };
  manager.request(name, { signal: ended.signal }, listen).catch((error: unknown) => {
    // It was called off while it waited for its turn.
    if (!ended.signal.aborted) throw error;
  });
  return () => {
    ended.abort();
    channel.close();
  };
}

/** A browser comes back by itself after a connection that was lost, but not after an answer such as 503. Returns what ends it. */
function listenTo(address: string, onJobs: (told: ProgressReadOutput) => void): () => void {
  let source: EventSource;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const open = (): void => {
    source = new EventSource(address);
    source.addEventListener('jobs', ({ data }: MessageEvent<string>) => {
      onJobs(JSON.parse(data) as ProgressReadOutput);
    });
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(open, RETRY_MS);
    };
  };
  open();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}
