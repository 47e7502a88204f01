/** How often each host is asked, by all crawls of a thread together: one request at a time, so far apart as it wants. */

/** More are gone through for those that nobody asks any more. */
const HOSTS_KEPT_MAX = 1000;

export interface HostPaceOptions {
  /** 0: no bound. */
  readonly pagesPerSecond: number;
  readonly nowMs: () => number;
}

interface HostState {
  busy: number;
  /** Not before. */
  freeAtMs: number;
  delayMs: number;
}

export class HostPace {
  private readonly hosts = new Map<string, HostState>();
  /** Of crawls that wait for a host which another one is asking just now, in their order. */
  private readonly waiting = new Set<() => void>();
  private readonly delayMs: number;
  private readonly busyMax: number;

  constructor(private readonly options: HostPaceOptions) {
    this.delayMs = options.pagesPerSecond > 0 ? 1000 / options.pagesPerSecond : 0;
    this.busyMax = options.pagesPerSecond > 0 ? 1 : Number.MAX_SAFE_INTEGER;
  }

  /** What its robots.txt asks for; a faster pace than that of the settings is not taken. */
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
    // From begin to begin; a host that answers slowly is not asked again before it has.
    state.freeAtMs = Math.max(state.freeAtMs, this.options.nowMs() + state.delayMs);
  }

  end(host: string): void {
    this.state(host).busy -= 1;
    if (this.hosts.size > HOSTS_KEPT_MAX) this.forget();
    for (const tell of [...this.waiting]) tell();
  }

  /** `tell` is called whenever a request has ended, until what is returned is called. */
  onEnd(tell: () => void): () => void {
    this.waiting.add(tell);
    return () => this.waiting.delete(tell);
  }

  rest(host: string, ms: number): void {
    const state = this.state(host);
    state.freeAtMs = Math.max(state.freeAtMs, this.options.nowMs() + ms);
  }

  /** Milliseconds until one of them that has no request under way is free; undefined where all have. */
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

  /** Hosts that could be asked at once: their delays are learned again with their robots.txt. */
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
