/**
 * Throttles sign-ins: five failed attempts per minute for an address and for an email; further ones are refused. An
 * attempt counts when it begins and is taken back if it succeeds, so that parallel attempts do not evade the limit.
 * Main thread only.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { BoundedMap, ServiceError, type Clock } from '../platform/index.js';

export const ATTEMPTS_MAX = 5;
const WINDOW_MS = 60_000;
/** Addresses and emails that are tracked. The least recently used is evicted. */
const SUBJECTS_MAX = 100_000;

const NETWORK_GROUPS = 4;

/**
 * Returns the subject by which an address is counted. For IPv6 it is the /64 network, which a provider gives to one
 * machine: the addresses in it are too many to count.
 */
export function addressSubject(address: string): string {
  if (isIP(address) !== 6) return `address ${address}`;
  const groups = ipaddr.IPv6.parse(address).parts.slice(0, NETWORK_GROUPS);
  return `address ${groups.map((group) => group.toString(16)).join(':')}::/64`;
}

/** An attempt in progress. */
export interface Attempt {
  /** Uncounts the attempt, because it succeeded or was not evaluated. */
  takeBack(): void;
}

export class AttemptThrottle {
  /** Times of the attempts of the last minute by subject, oldest first. */
  readonly #times = new BoundedMap<string, number[]>(SUBJECTS_MAX);

  constructor(readonly clock: Clock) {}

  /** Throws `rate-limited` if one of the subjects (an address, an email) has had too many attempts. */
  begin(subjects: readonly string[]): Attempt {
    const nowMs = this.clock.nowMs();
    const waitMs = Math.max(...subjects.map((subject) => this.#waitMs(subject, nowMs)));
    if (waitMs > 0) {
      const retryAfterSeconds = Math.ceil(waitMs / 1000);
      throw new ServiceError('rate-limited', `Too many failed sign-ins. Try again in ${retryAfterSeconds} s.`, {
        retryAfterSeconds,
      });
    }
    for (const subject of subjects) this.#add(subject, nowMs);
    return {
      takeBack: () => {
        for (const subject of subjects) this.#takeBack(subject, nowMs);
      },
    };
  }

  #waitMs(subject: string, nowMs: number): number {
    const times = this.#times.get(subject);
    if (times === undefined) return 0;
    // Times in the future, after the clock was set back, are dropped: nobody is locked out for more than a minute.
    const recent = times.filter((time) => time > nowMs - WINDOW_MS && time <= nowMs);
    if (recent.length < times.length) this.#times.set(subject, recent);
    const [oldest] = recent;
    return recent.length < ATTEMPTS_MAX || oldest === undefined ? 0 : oldest + WINDOW_MS - nowMs;
  }

  #add(subject: string, nowMs: number): void {
    const times = this.#times.get(subject) ?? [];
    times.push(nowMs);
    // Moves the subject to the end, so that the least recently used is evicted.
    this.#times.renew(subject, times);
  }

  #takeBack(subject: string, time: number): void {
    const times = this.#times.get(subject);
    const position = times?.indexOf(time) ?? -1;
    if (position !== -1) times?.splice(position, 1);
    if (times?.length === 0) this.#times.delete(subject);
  }
}
