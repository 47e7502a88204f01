import { setPriority } from 'node:os';

/** Of 19: at its turn on a busy processor, such a thread gets a third of the time of one that searches. */
const NICENESS = 5;

/** Searches come first on a busy processor: the calling thread gives way to them. */
export function giveWayToSearches(): void {
  // On Linux a priority is that of the calling thread; elsewhere it would be that of the whole process.
  if (process.platform === 'linux') setPriority(NICENESS);
}
