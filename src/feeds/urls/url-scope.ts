/**
 * Which pages of a website are read: globs that are matched against the address without its fragment. `*` matches
 * anything except a slash, `**` matches anything, and every other character, including `?`, matches itself. A pattern
 * that begins with a slash is matched against the path, on any host in scope.
 */
import { RE2JS } from 're2js';

export interface UrlScopeOptions {
  readonly startUrls: readonly string[];
  /** If there are none, every page on the hosts of the start URLs is read. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

export class UrlScope {
  private readonly hosts: Set<string>;
  private readonly include: readonly Glob[];
  private readonly exclude: readonly Glob[];

  constructor({ startUrls, include, exclude }: UrlScopeOptions) {
    this.hosts = new Set(startUrls.map((url) => new URL(url).host));
    this.include = include.map((pattern) => new Glob(pattern));
    this.exclude = exclude.map((pattern) => new Glob(pattern));
  }

  /** Adds a host to which a start URL was redirected. It belongs to the site too. */
  addHostOf(url: string): void {
    this.hosts.add(new URL(url).host);
  }

  /** Returns in a few words why the page is not read, or undefined if it is. */
  refusal(url: URL): 'excluded' | 'not included' | 'another host' | undefined {
    if (this.exclude.some((glob) => glob.matches(url))) return 'excluded';
    const isAtHome = this.hosts.has(url.host);
    if (this.include.length === 0) return isAtHome ? undefined : 'another host';
    if (this.include.some((glob) => glob.matches(url) && (isAtHome || !glob.isOfPath))) return undefined;
    return isAtHome ? 'not included' : 'another host';
  }
}

class Glob {
  readonly isOfPath: boolean;
  // The time for matching grows only with the length of the address, whatever the pattern is.
  private readonly expression: RE2JS;

  constructor(pattern: string) {
    this.isOfPath = pattern.startsWith('/');
    this.expression = globExpression(pattern);
  }

  matches(url: URL): boolean {
    return this.expression.matches(this.isOfPath ? `${url.pathname}${url.search}` : url.href);
  }
}

export function globExpression(pattern: string): RE2JS {
  const source = pattern
    .split(/(\*+)/)
    .map((part) => (part === '' || !/^\*+$/.test(part) ? RE2JS.quote(part) : part.length > 1 ? '.*' : '[^/]*'))
    .join('');
  return RE2JS.compile(`^(?:${source})$`, RE2JS.DOTALL);
}
