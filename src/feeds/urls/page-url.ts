/** Addresses of pages: gives each page a single address, and recognizes endless series of pages. */

const PAGE_URL_CHARACTERS_MAX = 1024;
const SEGMENTS_MAX = 24;
/**
 * If a segment occurs more often than this in a path, it comes from a relative link that makes the path longer with
 * each page.
 */
const SAME_SEGMENTS_MAX = 3;
const PARAMETERS_MAX = 16;
/** Parameters that say where a reader came from. */
const TRACKING =
  /^(?:utm_\w+|mtm_\w+|pk_\w+|gclid|gbraid|wbraid|dclid|fbclid|msclkid|yclid|twclid|igshid|mc_[ce]id|_ga|_gl|_hs\w+|vero_id|oly_\w+_id|ref_src)$/i;
/** Parameters that identify the reader's session. */
const SESSION =
  /^(?:phpsessid|jsessionid|aspsessionid\w*|cfid|cftoken|zenid|oscsid|sessionid|session_id|sess(?:ion)?|s?sid)$/i;
const SESSION_IN_PATH = /;(?:jsessionid|phpsessid|sid)=[^/?#;]*/gi;
const SESSION_VALUE = /^[\w-]{8,}$/;
/** Finds dates such as `/2031/05` and `date=2031-05`. The pages of a calendar for later times never end. */
const DATED = /(?:^|[^\d])((?:1[0-9]|2[0-9]|3[0-9])\d{2})[-/](0?[1-9]|1[0-2])(?![\da-z])/i;
const CALENDAR_FUTURE_MS = 400 * 86_400_000;
const CALENDAR_FIRST_YEAR = 1990;
const YEAR_PARAMETER = /^(?:y|yr|year|jahr|annee|ano)$/i;

/**
 * Returns the absolute address without fragment, user, tracking parameters and session ids, with escapes in upper case.
 * Returns undefined if it is not an http or https address, or is longer than PAGE_URL_CHARACTERS_MAX.
 */
export function pageUrl(text: string, base?: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed.length > 2 * PAGE_URL_CHARACTERS_MAX || !URL.canParse(trimmed, base)) return undefined;
  const url = new URL(trimmed, base);
  if ((url.protocol !== 'https:' && url.protocol !== 'http:') || url.hostname === '') return undefined;
  url.hash = '';
  url.username = '';
  url.password = '';
  url.pathname = url.pathname.replace(SESSION_IN_PATH, '').replace(/%[\da-f]{2}/gi, (code) => code.toUpperCase());
  if (url.search !== '' || url.href.endsWith('?')) url.search = keptQuery(url.search);
  return url.href.length > PAGE_URL_CHARACTERS_MAX ? undefined : url.href;
}

/**
 * Splits an address that `pageUrl` returned, which has a path but no user and no fragment. It is not parsed, because a
 * site has thousands of them.
 */
export function originAndTarget(url: string): { readonly origin: string; readonly target: string } {
  const path = url.indexOf('/', url.indexOf('//') + 2);
  return { origin: url.slice(0, path), target: url.slice(path) };
}

/**
 * Returns the query without the parameters that are left out. The rest stays as it was written, because a server may
 * treat `a=` and `a` differently.
 */
function keptQuery(search: string): string {
  return search
    .replace(/^\?+/, '')
    .split('&')
    .filter((parameter) => {
      const [name = '', value = ''] = parameter.split('=', 2);
      return !/^\?*$/.test(parameter) && !TRACKING.test(name) && !(SESSION.test(name) && SESSION_VALUE.test(value));
    })
    .join('&');
}

/** Returns as a sentence why the page belongs to an endless series, or undefined if it does not seem to. */
export function trapOf(url: URL, nowMs: number): string | undefined {
  const segments = url.pathname.split('/').filter((segment) => segment !== '');
  if (segments.length > SEGMENTS_MAX) return `Its path has more than ${SEGMENTS_MAX} parts.`;
  const counts = new Map<string, number>();
  for (const segment of segments) counts.set(segment, (counts.get(segment) ?? 0) + 1);
  if ([...counts.values()].some((count) => count > SAME_SEGMENTS_MAX)) return 'Its path repeats itself.';
  if (endsInRepetition(segments)) return 'Its path repeats itself.';
  const parameters = [...url.searchParams];
  if (parameters.length > PARAMETERS_MAX) return `It has more than ${PARAMETERS_MAX} parameters.`;
  const isOfNoTime =
    isBeyondCalendar(`${url.pathname}?${url.search}`, nowMs) ||
    parameters.some(([name, value]) => isBeyondYear(name, value, nowMs));
  return isOfNoTime ? 'It is the page of a calendar for a time far away.' : undefined;
}

/** Returns true for a path such as `/a/b/a/b/a/b`, which has the same end three times in a row. */
function endsInRepetition(segments: readonly string[]): boolean {
  for (let length = 1; length * 3 <= segments.length; length += 1) {
    const end = segments.slice(-length).join('/');
    if (
      end === segments.slice(-2 * length, -length).join('/') &&
      end === segments.slice(-3 * length, -2 * length).join('/')
    )
      return true;
  }
  return false;
}

function isBeyondCalendar(text: string, nowMs: number): boolean {
  const [, year, month] = DATED.exec(text) ?? [];
  if (year === undefined || month === undefined) return false;
  return Number(year) < CALENDAR_FIRST_YEAR
    ? /calend|event|agenda|date|month|week|day/i.test(text)
    : Date.UTC(Number(year), Number(month) - 1) > nowMs + CALENDAR_FUTURE_MS;
}

function isBeyondYear(name: string, value: string, nowMs: number): boolean {
  if (!YEAR_PARAMETER.test(name) || !/^\d{4}$/.test(value)) return false;
  return Number(value) < CALENDAR_FIRST_YEAR || Date.UTC(Number(value)) > nowMs + CALENDAR_FUTURE_MS;
}
