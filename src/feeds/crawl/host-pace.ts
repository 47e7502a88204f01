/**
 * Limits how often each host is asked, by all crawls of a thread together: one request at a time, with the delay that
 * the host wants.
 */

/** With more hosts, those that nobody asks any more are removed. */
const HOSTS_KEPT_MAX = 1000;

export interface HostPaceOptions {
  /** 0: no limit. */
  readonly pagesPerSecond: number;
  readonly nowMs: () => number;
}

interface HostState {
  busy: number;
  /** Time before which the host must not be asked. */
  freeAtMs: number;
  delayMs: number;
}

export class HostPace {
  private readonly hosts = new Map<string, HostState>();
  /** Listeners of crawls that wait for a host which another crawl is asking, in order. */
  private readonly waiting = new Set<() => void>();
  private readonly delayMs: number;
  private readonly busyMax: number;

  constructor(private readonly options: HostPaceOptions) {
    this.delayMs = options.pagesPerSecond > 0 ? 1000 / options.pagesPerSecond : 0;
    this.busyMax = options.pagesPerSecond > 0 ? 1 : Number.MAX_SAFE_INTEGER;
  }

  /** Sets the delay of its robots.txt; a shorter one than that of the settings is ignored. */
  setDelay(host: string, delayMs: number): void {
    this.state(host).delayMs = Math.max(delayMs, this.delayMs);
  }

  isFree(host: string): boolean {
    const { busy, freeAtMs, delayMs } = this.state(host);
    return busy < (delayMs > 0 ? 1 : this.busyMax) && freeAtMs <= this.options.nowMs();
  }

  begin(host: string): void {
    const state = this.state(host);
    state.busy += 1;
    // Between the beginnings of two requests; a slow host is not asked again before it has answered.
    state.freeAtMs = Math.max(state.freeAtMs, this.options.nowMs() + state.delayMs);
  }

  end(host: string): void {
    this.state(host).busy -= 1;
    if (this.hosts.size > HOSTS_KEPT_MAX) this.forget();
    for (const tell of [...this.waiting]) tell();
  }

  /** Calls `tell` whenever a request has ended, until the returned function is called. */
  onEnd(tell: () => void): () => void {
    this.waiting.add(tell);
    return () => this.waiting.delete(tell);
  }

  rest(host: string, ms: number): void {
    const state = this.state(host);
    state.freeAtMs = Math.max(state.freeAtMs, this.options.nowMs() + ms);
  }

  /** Returns the milliseconds until one of the hosts without a request in flight is free; undefined if all have one. */
  waitMs(hosts: Iterable<string>): number | undefined {
    let wait: number | undefined;
    for (const host of hosts) {
      const { busy, freeAtMs } = this.state(host);
      if (busy > 0) continue;
      const ms = Math.max(freeAtMs - this.options.nowMs(), 0);
      wait = Math.min(wait ?? ms, ms);
    }
    return wait;
  }

  /** Removes hosts that could be asked at once; their delays are learned again from their robots.txt. */
  private forget(): void {
    const nowMs = this.options.nowMs();
    for (const [host, { busy, freeAtMs }] of this.hosts) if (busy === 0 && freeAtMs <= nowMs) this.hosts.delete(host);
  }

  private state(host: string): HostState {
    const state = this.hosts.get(host) ?? { busy: 0, freeAtMs: 0, delayMs: this.delayMs };
    this.hosts.set(host, state);
    return state;
  }
}
