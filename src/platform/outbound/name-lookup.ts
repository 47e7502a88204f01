/**
 * Looks up host names by a resolver that asks the machine's name servers without blocking a thread. `dns.lookup` takes
 * a thread per name, of which the process has two by default: name servers that never answer hold one for ten seconds
 * and more, and twenty such names kept all other look-ups waiting for minutes.
 *
 * Names in `/etc/hosts` are looked up by the system. Short names are completed by the machine's search domains, as
 * within a cluster (`ollama`, `ollama.tools`). Changes of servers, hosts and search domains are noticed by their files.
 */
import { lookup, promises as dns, type LookupAddress } from 'node:dns';
import { readFileSync, statSync } from 'node:fs';
import { networkInterfaces } from 'node:os';

/** `dns.lookup` with `all: true`; a type, so that tests can replace it. */
export type AddressLookup = (
  hostname: string,
  options: { readonly all: true; readonly family?: number | string | undefined },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Timeout of a query; doubled when a silent server is asked again. */
const QUESTION_MS = 2000;
const TRIES = 2;
/** Minimum interval between two checks of files and interfaces. */
const LOOK_MS = 1000;
/** Codes for no reachable name server, for instance on a machine that resolves names in another way. */
const NO_SERVER: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTINITIALIZED', 'EFILE']);
/** Codes of a server's answer that the name does not exist, or has no such address. */
const NO_ADDRESS: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);
/** The system's code for servers that failed or were silent. */
const NO_ANSWER = 'EAI_AGAIN';

export interface NameLookupPlaces {
  readonly hostsPath: string;
  readonly serversPath: string;
  /** For tests: instead of the machine's name servers and its look-up. */
  readonly servers?: readonly string[];
  readonly system?: AddressLookup;
}

const SYSTEM: NameLookupPlaces = { hostsPath: '/etc/hosts', serversPath: '/etc/resolv.conf' };

/** Search domains of resolv.conf(5). */
interface SearchedDomains {
  readonly domains: readonly string[];
  /** Names with at least so many dots are first tried as they are. */
  readonly dotsMin: number;
}
const NO_DOMAINS: SearchedDomains = { domains: [], dotsMin: 1 };

export class NameLookup {
  private resolver: dns.Resolver | undefined;
  private hosts: ReadonlySet<string> = new Set();
  private domains: SearchedDomains = NO_DOMAINS;
  private printed = '';
  private lookedMs = -Infinity;
  private isSixFirst = false;

  constructor(private readonly places: NameLookupPlaces = SYSTEM) {}

  readonly lookup: AddressLookup = (hostname, options, callback) => {
    this.lookAround();
    if (this.isOfThisMachine(hostname)) {
      this.askSystem(hostname, options, callback);
      return;
    }
    this.asked(hostname, familyOf(options.family)).then(
      (addresses) => {
        callback(null, addresses);
      },
      (error: unknown) => {
        if (NO_SERVER.has(codeOf(error))) this.askSystem(hostname, options, callback);
        else callback(error as NodeJS.ErrnoException, []);
      },
    );
  };

  private readonly askSystem: AddressLookup = (hostname, { family }, callback) => {
    (this.places.system ?? lookup)(hostname, { all: true, family: familyOf(family) }, callback);
  };

  private isOfThisMachine(hostname: string): boolean {
    const name = hostname.toLowerCase();
    return name === 'localhost' || name.endsWith('.localhost') || this.hosts.has(name);
  }

  /**
   * Tries the names that `hostname` may stand for, as the system does: the servers of one search domain may fail, and
   * where none answers, only `hostname` itself is still tried. Rejects with a failure of a server if there was one, as
   * the name may exist; otherwise with the error for `hostname` itself.
   */
  private async asked(hostname: string, family: number): Promise<LookupAddress[]> {
    let failure: unknown;
    let isSilent = false;
    for (const name of namesFor(hostname, this.domains)) {
      if (isSilent && name !== hostname) continue;
      try {
        return await this.askedFor(name, family);
      } catch (error) {
        const code = codeOf(error);
        if (NO_SERVER.has(code)) throw error;
        isSilent ||= (error as LookupError).isSilent;
        if (codeOf(failure) !== NO_ANSWER && (failure === undefined || name === hostname || code === NO_ANSWER))
          failure = error;
      }
    }
    throw failure;
  }

  private async askedFor(hostname: string, family: number): Promise<LookupAddress[]> {
    const resolver = (this.resolver ??= this.newResolver());
    const [four, six] = await Promise.allSettled([
      family === 6 ? [] : resolver.resolve4(hostname),
      family === 4 ? [] : resolver.resolve6(hostname),
    ]);
    const found = [addressesOf(four, 4), addressesOf(six, 6)];
    const addresses = (this.isSixFirst ? found.reverse() : found).flat();
    if (addresses.length === 0) throw lookupError(hostname, [four, six]);
    return addresses;
  }

  private newResolver(): dns.Resolver {
    const resolver = new dns.Resolver({ timeout: QUESTION_MS, tries: TRIES });
    if (this.places.servers !== undefined) resolver.setServers(this.places.servers);
    return resolver;
  }

  private lookAround(): void {
    const nowMs = performance.now();
    if (nowMs - this.lookedMs < LOOK_MS) return;
    this.lookedMs = nowMs;
    const { hostsPath, serversPath } = this.places;
    const printed = [printOf(hostsPath), printOf(serversPath)].join(' ');
    if (printed !== this.printed) {
      this.printed = printed;
      this.hosts = namesIn(hostsPath);
      this.domains = domainsIn(serversPath);
      this.resolver = undefined;
    }
    this.isSixFirst = hasSixAlone();
  }
}

/** The look-up of this thread. */
export const lookupAddresses: AddressLookup = new NameLookup().lookup;

function familyOf(family: number | string | undefined): 0 | 4 | 6 {
  if (family === 4 || family === 'IPv4') return 4;
  return family === 6 || family === 'IPv6' ? 6 : 0;
}

function addressesOf(result: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] {
  return result.status === 'fulfilled' ? result.value.map((address) => ({ address, family })) : [];
}

interface LookupError extends NodeJS.ErrnoException {
  /** True if a question was not answered in time. */
  readonly isSilent: boolean;
}

/** Returns an error with the system's codes: `ENOTFOUND` if there is no such host, `EAI_AGAIN` if no server said so. */
function lookupError(hostname: string, results: readonly PromiseSettledResult<string[]>[]): LookupError {
  const codes = results.flatMap((result) => (result.status === 'rejected' ? [codeOf(result.reason)] : []));
  const isRefused = codes.find((code) => NO_SERVER.has(code));
  const code = isRefused ?? (codes.every((each) => NO_ADDRESS.has(each)) ? 'ENOTFOUND' : NO_ANSWER);
  const isSilent = codes.includes(dns.TIMEOUT);
  return Object.assign(new Error(`${code} ${hostname} (${codes.join(', ')})`), { code, hostname, isSilent });
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException | undefined)?.code ?? '';
}

function printOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? 'none' : `${stat.ino}-${stat.mtimeMs}-${stat.size}`;
}

/** Returns the names in a file like `/etc/hosts`, in lower case. */
function namesIn(path: string): ReadonlySet<string> {
  return new Set(wordsOfLines(path).flatMap(([, ...names]) => names));
}

/** Returns the words of each line, in lower case; none if the file does not exist. */
function wordsOfLines(path: string): readonly string[][] {
  let text = '';
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    // A missing file counts as empty.
  }
  return text.split('\n').map((line) =>
    line
      .replace(/[#;].*/, '')
      .trim()
      .toLowerCase()
      .split(/\s+/),
  );
}

/** Limits of the system's resolver. */
const DOTS_MAX = 15;
const DOMAINS_MAX = 6;

/** Reads a file like `/etc/resolv.conf`. The last line with search domains counts. */
function domainsIn(path: string): SearchedDomains {
  const lines = wordsOfLines(path);
  const named = lines.findLast(([keyword]) => keyword === 'search' || keyword === 'domain')?.slice(1) ?? [];
  const options = lines.flatMap(([keyword, ...values]) => (keyword === 'options' ? values : []));
  const dots = options.flatMap((option) => /^ndots:(\d{1,3})$/.exec(option)?.[1] ?? []).at(-1) ?? NO_DOMAINS.dotsMin;
  const domains = named.map((domain) => domain.replace(/\.$/, '')).filter((domain) => domain !== '');
  return { domains: domains.slice(0, DOMAINS_MAX), dotsMin: Math.min(Number(dots), DOTS_MAX) };
}

/**
 * Returns the names that `hostname` may stand for, in the order in which the system tries them. A name ending in a dot
 * is absolute.
 */
function namesFor(hostname: string, { domains, dotsMin }: SearchedDomains): readonly string[] {
  if (hostname.endsWith('.')) return [hostname];
  const completed = domains.map((domain) => `${hostname}.${domain}`);
  const dots = hostname.split('.').length - 1;
  return dots >= dotsMin ? [hostname, ...completed] : [...completed, hostname];
}

/** True if the machine has IPv6 addresses and no IPv4 address besides loopback. */
function hasSixAlone(): boolean {
  const outside = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'));
  return outside.length > 0 && outside.every(({ family }) => family === 'IPv6');
}
