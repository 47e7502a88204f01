import { setPriority } from 'node:os';

/** Of 19. At its turn on a busy processor a thread of 5 gets a quarter of the time, as reports are waited for. */
const NICENESS = { analytics: 5 } as const;

/** Searches come first on a busy processor: the calling thread gives way to them. */
export function giveWayToSearches(work: keyof typeof NICENESS): void {
  // On Linux a priority is that of the calling thread; elsewhere it would be that of the whole process.
  if (process.platform === 'linux') setPriority(NICENESS[work]);
}
