/**
 * How often somebody may try to sign in: five wrong ones a minute from an address and for an e-mail, whatever comes after them.
 * An attempt counts when it begins, and is taken back when it was right, so that a thousand at once are no way around.
 * Main thread only.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { BoundedMap, ServiceError, type Clock } from '../platform/index.js';

export const ATTEMPTS_MAX = 5;
const WINDOW_MS = 60_000;
/** Addresses and e-mails that are remembered; the one that came first is forgotten first. */
const SUBJECTS_MAX = 100_000;

const NETWORK_GROUPS = 4;

/**
 * As what somebody at this address is counted. Of IPv6 it is the network (/64): that is what a provider gives to one machine, which
 * has more addresses in it than could ever be counted.
 */
export function addressSubject(address: string): string {
  if (isIP(address) !== 6) return `address ${address}`;
  const groups = ipaddr.IPv6.parse(address).parts.slice(0, NETWORK_GROUPS);
  return `address ${groups.map((group) => group.toString(16)).join(':')}::/64`;
}

/** An attempt under way. */
export interface Attempt {
  /** It was right, or nobody looked whether it was, and does not count. */
  takeBack(): void;
}

export class AttemptThrottle {
  /** Times of the attempts of the last minute, oldest first, by subject. */
  readonly #times = new BoundedMap<string, number[]>(SUBJECTS_MAX);

  constructor(readonly clock: Clock) {}

  /** Throws `rate-limited` where one of the subjects (an address, an e-mail) has had too many. */
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
    // A clock that was set back does not keep anybody out for longer than a minute.
    const recent = times.filter((time) => time > nowMs - WINDOW_MS && time <= nowMs);
    if (recent.length < times.length) this.#times.set(subject, recent);
    const [oldest] = recent;
    return recent.length < ATTEMPTS_MAX || oldest === undefined ? 0 : oldest + WINDOW_MS - nowMs;
  }

  #add(subject: string, nowMs: number): void {
    const times = this.#times.get(subject) ?? [];
    times.push(nowMs);
    // Put in anew: what was tried last is forgotten last.
    this.#times.renew(subject, times);
  }

  #takeBack(subject: string, time: number): void {
    const times = this.#times.get(subject);
    const position = times?.indexOf(time) ?? -1;
    if (position !== -1) times?.splice(position, 1);
    if (times?.length === 0) this.#times.delete(subject);
  }
}
