/**
 * Names of the public internet as addresses, asked of the name servers of the machine by a resolver that waits without a thread. The look-up of the
 * system (`dns.lookup`) has a thread for each name, of which the whole process has two by default: whose name servers never answer holds one for ten
 * seconds and more, and twenty such names kept every other one waiting for minutes, whoever asked.
 *
 * What the machine calls by `/etc/hosts` is looked up by the system. Short names are completed by the domains that the machine searches, as those of a
 * cluster are (`ollama`, `ollama.tools`). What servers, hosts and domains there are is seen anew when their files change.
 */
import { lookup, promises as dns, type LookupAddress } from 'node:dns';
import { readFileSync, statSync } from 'node:fs';
import { networkInterfaces } from 'node:os';

/** `dns.lookup` with `all: true`, as something that a test can replace. */
export type AddressLookup = (
  hostname: string,
  options: { readonly all: true; readonly family?: number | string | undefined },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Of one question; a server that is silent is asked again, for twice as long. */
const QUESTION_MS = 2000;
const TRIES = 2;
/** Files and interfaces are looked at no more often. */
const LOOK_MS = 1000;
/** There is no name server to ask, as where the machine finds names in another way. */
const NO_SERVER: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTINITIALIZED', 'EFILE']);
/** A server has answered that there is no such name, or no such address of it. */
const NO_ADDRESS: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

export interface NameLookupPlaces {
  readonly hostsPath: string;
  readonly serversPath: string;
  /** In place of those of the machine, and of its look-up, for tests. */
  readonly servers?: readonly string[];
  readonly system?: AddressLookup;
}

const SYSTEM: NameLookupPlaces = { hostsPath: '/etc/hosts', serversPath: '/etc/resolv.conf' };

/** resolv.conf(5). */
interface SearchedDomains {
  readonly domains: readonly string[];
  /** Names with so many dots are asked for as they are first. */
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

  /** Rejects with what is said of the name as it was given, where none of the names that it may stand for is one. */
  private async asked(hostname: string, family: number): Promise<LookupAddress[]> {
    let failure: unknown;
    for (const name of namesFor(hostname, this.domains)) {
      try {
        return await this.askedFor(name, family);
      } catch (error) {
        if (codeOf(error) !== 'ENOTFOUND') throw error;
        if (failure === undefined || name === hostname) failure = error;
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

/** Of this thread. */
export const lookupAddresses: AddressLookup = new NameLookup().lookup;

function familyOf(family: number | string | undefined): 0 | 4 | 6 {
  if (family === 4 || family === 'IPv4') return 4;
  return family === 6 || family === 'IPv6' ? 6 : 0;
}

function addressesOf(result: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] {
  return result.status === 'fulfilled' ? result.value.map((address) => ({ address, family })) : [];
}

/** As the system tells it: `ENOTFOUND` where there is no such host, `EAI_AGAIN` where no server says so. */
function lookupError(hostname: string, results: readonly PromiseSettledResult<string[]>[]): NodeJS.ErrnoException {
  const codes = results.flatMap((result) => (result.status === 'rejected' ? [codeOf(result.reason)] : []));
  const isRefused = codes.find((code) => NO_SERVER.has(code));
  const code = isRefused ?? (codes.every((each) => NO_ADDRESS.has(each)) ? 'ENOTFOUND' : 'EAI_AGAIN');
  return Object.assign(new Error(`${code} ${hostname} (${codes.join(', ')})`), { code, hostname });
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException | undefined)?.code ?? '';
}

function printOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? 'none' : `${stat.ino}-${stat.mtimeMs}-${stat.size}`;
}

/** Names of a file like `/etc/hosts`, in lower case. */
function namesIn(path: string): ReadonlySet<string> {
  return new Set(wordsOfLines(path).flatMap(([, ...names]) => names));
}

/** The words of each line, in lower case; none where there is no such file. */
function wordsOfLines(path: string): readonly string[][] {
  let text = '';
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    // Where there is none, it says nothing.
  }
  return text.split('\n').map((line) =>
    line
      .replace(/[#;].*/, '')
      .trim()
      .toLowerCase()
      .split(/\s+/),
  );
}

/** As the system's resolver has it. */
const DOTS_MAX = 15;
const DOMAINS_MAX = 6;

/** Of a file like `/etc/resolv.conf`. The last line that names domains holds. */
function domainsIn(path: string): SearchedDomains {
  const lines = wordsOfLines(path);
  const named = lines.findLast(([keyword]) => keyword === 'search' || keyword === 'domain')?.slice(1) ?? [];
  const options = lines.flatMap(([keyword, ...values]) => (keyword === 'options' ? values : []));
  const dots = options.flatMap((option) => /^ndots:(\d{1,3})$/.exec(option)?.[1] ?? []).at(-1) ?? NO_DOMAINS.dotsMin;
  const domains = named.map((domain) => domain.replace(/\.$/, '')).filter((domain) => domain !== '');
  return { domains: domains.slice(0, DOMAINS_MAX), dotsMin: Math.min(Number(dots), DOTS_MAX) };
}

/** What a name may stand for, in the order in which the system asks; one that ends with a dot stands for itself. */
function namesFor(hostname: string, { domains, dotsMin }: SearchedDomains): readonly string[] {
  if (hostname.endsWith('.')) return [hostname];
  const completed = domains.map((domain) => `${hostname}.${domain}`);
  const dots = hostname.split('.').length - 1;
  return dots >= dotsMin ? [hostname, ...completed] : [...completed, hostname];
}

/** The machine reaches others by IPv6 and not by IPv4. */
function hasSixAlone(): boolean {
  const outside = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'));
  return outside.length > 0 && outside.every(({ family }) => family === 'IPv6');
}
