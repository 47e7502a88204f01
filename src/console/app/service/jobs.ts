/**
 * Progress of the account's jobs. One tab receives the events for all tabs, since browsers limit connections per host,
 * and permanent ones of several tabs would use them up. If tabs cannot coordinate (no secure context), each polls.
 */
import { useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { progressRead, progressWatch, targetOf, type ProgressReadOutput } from './client.js';
import { reading } from './queries.js';
import { useAccount } from './session.js';

export type Job = ProgressReadOutput['jobs'][number];

const ASKED_MS = 2_000;
const RETRY_MS = 5_000;
/** Shorter interruptions are not shown: a restart, a change of network. */
const LOST_MS = 2_000;
const NO_JOBS: ProgressReadOutput = { jobs: [], job_count: 0 };
/** Undefined on a page opened over plain HTTP from another machine. */
const locks = (navigator as { readonly locks?: LockManager }).locks;

/** `isLost` is true while the service is unreachable. */
export function useJobs(): ProgressReadOutput & { readonly isLost: boolean } {
  const account = useAccount();
  const cache = useQueryClient();
  const [isLost, setLost] = useState(false);
  const { data } = useQuery({
    ...reading(progressRead, { params: { account } }),
    refetchInterval: locks === undefined ? ASKED_MS : false,
  });
  useEffect(() => {
    if (locks === undefined) return;
    return shareEvents(locks, account, (heard) => {
      setLost(heard === 'lost');
      if (heard === 'back') void cache.invalidateQueries();
      else if (heard !== 'lost') show(cache, account, heard);
    });
  }, [account, cache]);
  return { ...(data ?? NO_JOBS), isLost };
}

/** The current jobs; or that the connection is lost; or that it is back, after which everything may have changed. */
type Heard = ProgressReadOutput | 'lost' | 'back';

/** Updates the jobs. If any has ended, other queries are read again. */
function show(cache: QueryClient, account: string, told: ProgressReadOutput): void {
  const { queryKey } = reading(progressRead, { params: { account } });
  const before = cache.getQueryData<ProgressReadOutput>(queryKey)?.jobs ?? [];
  cache.setQueryData(queryKey, told);
  const goesOn = (job: Job): boolean => told.jobs.some(({ kind, name }) => kind === job.kind && name === job.name);
  if (before.every(goesOn)) return;
  void cache.invalidateQueries({ predicate: (query) => query.queryKey[0] !== progressRead.route.name });
}

/**
 * Receives events, either directly or from the tab that does, whose place it takes when that is closed. Returns a
 * function that ends it.
 */
function shareEvents(manager: LockManager, account: string, onHeard: (heard: Heard) => void): () => void {
  const name = `gannet jobs of ${account}`;
  const channel = new BroadcastChannel(name);
  const ended = new AbortController();
  channel.onmessage = ({ data }: MessageEvent<Heard>) => {
    onHeard(data);
  };
  const listen = (): Promise<void> => {
    const stop = listenTo(targetOf(progressWatch.route, { params: { account } }), (heard) => {
      channel.postMessage(heard);
      onHeard(heard);
    });
    return new Promise((resolve) => {
      ended.signal.addEventListener('abort', () => {
        stop();
        resolve();
      });
    });
  };
  manager.request(name, { signal: ended.signal }, listen).catch((error: unknown) => {
    // Aborted while waiting for the lock.
    if (!ended.signal.aborted) throw error;
  });
  return () => {
    ended.abort();
    channel.close();
  };
}

/**
 * Receives events directly. Browsers reconnect after a lost connection, but not after an answer such as 503. Returns a
 * function that ends it.
 */
function listenTo(address: string, onHeard: (heard: Heard) => void): () => void {
  let source: EventSource;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let losing: ReturnType<typeof setTimeout> | undefined;
  let isLost = false;
  const open = (): void => {
    source = new EventSource(address);
    source.addEventListener('jobs', ({ data }: MessageEvent<string>) => {
      onHeard(JSON.parse(data) as ProgressReadOutput);
    });
    source.onopen = () => {
      clearTimeout(losing);
      losing = undefined;
      if (isLost) onHeard('back');
      isLost = false;
    };
    source.onerror = () => {
      losing ??= setTimeout(() => {
        isLost = true;
        onHeard('lost');
      }, LOST_MS);
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(open, RETRY_MS);
    };
  };
  open();
  return () => {
    clearTimeout(timer);
    clearTimeout(losing);
    source.close();
  };
}
