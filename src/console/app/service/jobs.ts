/**
 * Jobs of the account as they go on. One tab listens for all of them: a browser keeps few connections to a service, and a tab that
 * holds one of them for good would soon leave none. Where tabs cannot agree on one (no secure context), each asks now and then.
 */
import { useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { progressRead, progressWatch, targetOf, type ProgressReadOutput } from './client.js';
import { reading } from './queries.js';
import { useAccount } from './session.js';

export type Job = ProgressReadOutput['jobs'][number];

const ASKED_MS = 2_000;
const RETRY_MS = 5_000;
/** What is back sooner was not missed by anybody: a service that starts anew, a network that changes. */
const LOST_MS = 2_000;
const NO_JOBS: ProgressReadOutput = { jobs: [], job_count: 0 };
/** Not on a page that was opened by a bare address in the network. */
const locks = (navigator as { readonly locks?: LockManager }).locks;

/** `isLost`: nothing is heard of the service now. */
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

/** The whole of what goes on; or that nothing is heard any more, and then that all of it may have changed meanwhile. */
type Heard = ProgressReadOutput | 'lost' | 'back';

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
    // It was called off while it waited for its turn.
    if (!ended.signal.aborted) throw error;
  });
  return () => {
    ended.abort();
    channel.close();
  };
}

/** A browser comes back by itself after a connection that was lost, but not after an answer such as 503. Returns what ends it. */
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
