/**
 * robots.txt (RFC 9309): what a site asks of those that crawl it. Sitemap lines and `Crawl-delay`, which are not part
 * of the RFC, are read too.
 *
 * The time for matching is proportional to the lengths of pattern and path: the parts of a pattern between its
 * asterisks are searched for one after another.
 */
import { wellFormed } from '../text/cut-text.js';
import { decodeUtf8 } from '../text/decoded-text.js';

/** The RFC requires at least 500 KiB to be read. The rest of a longer file is ignored. */
export const ROBOTS_BYTES_MAX = 512_000;
const LINE_CHARACTERS_MAX = 16_663;
const RULES_MAX = 20_000;
const SITEMAPS_MAX = 1000;
const CRAWL_DELAY_SECONDS_MAX = 86_400;
const BLANKS: ReadonlySet<string> = new Set([' ', '\t', '\v', '\f']);
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

export interface RobotsFile {
  /**
   * Returns true if the crawler may read this address. `target` is the path and query of the URL as they are sent,
   * percent-encoded.
   */
  isAllowed(target: string): boolean;
  readonly crawlDelayMs: number | undefined;
  /** Addresses as they are in the file. */
  readonly sitemaps: readonly string[];
}

/** A file without rules. */
export const ALLOWS_ALL: RobotsFile = { isAllowed: () => true, crawlDelayMs: undefined, sitemaps: [] };

interface Rule {
  readonly isAllowing: boolean;
  /** The parts of the pattern between its asterisks. */
  readonly parts: readonly string[];
  readonly isAnchored: boolean;
  /** Number of characters in the pattern. The longest pattern that matches decides. */
  readonly length: number;
}

/** What applies to one name of a crawler, collected from all groups that name it. */
class Group {
  readonly rules: Rule[] = [];
  crawlDelayMs: number | undefined;
  isNamed = false;

  isAllowed(target: string): boolean {
    let length = -1;
    let isAllowing = true;
    for (const rule of this.rules) {
      const isStronger = rule.length > length || (rule.length === length && rule.isAllowing);
      if (!isStronger || !matches(rule, target)) continue;
      ({ length, isAllowing } = rule);
    }
    return isAllowing;
  }
}

/**
 * Reads a robots.txt. `crawler` is the product token of the crawler: letters, `-` and `_`. Any bytes are accepted, and
 * lines in another format are ignored.
 */
export function readRobotsFile(bytes: Uint8Array, crawler: string): RobotsFile {
  const own = new Group();
  const everybody = new Group();
  const sitemaps: string[] = [];
  let current: Group[] = [];
  let isHeadOver = false;
  let rules = 0;
  for (const [key, value] of linesOf(bytes)) {
    switch (key) {
      case 'user-agent': {
        if (isHeadOver) current = [];
        isHeadOver = false;
        const group = groupFor(value, crawler, { own, everybody });
        if (group === undefined) break;
        group.isNamed = true;
        current.push(group);
        break;
      }
      case 'allow':
      case 'disallow': {
        isHeadOver = true;
        rules += 1;
        if (value === '' || rules > RULES_MAX) break;
        const rule = ruleOf(value, key === 'allow');
        for (const group of new Set(current)) group.rules.push(rule);
        break;
      }
      case 'crawl-delay':
        for (const group of current) group.crawlDelayMs ??= delayOf(value);
        break;
      case 'sitemap':
        if (value !== '' && sitemaps.length < SITEMAPS_MAX) sitemaps.push(value);
    }
  }
  const group = own.isNamed ? own : everybody;
  return { isAllowed: (target) => group.isAllowed(target), crawlDelayMs: group.crawlDelayMs, sitemaps };
}

function* linesOf(bytes: Uint8Array): Generator<[key: string, value: string]> {
  const start = BYTE_ORDER_MARK.findIndex((byte, position) => bytes[position] !== byte);
  const text = decodeUtf8(bytes.subarray(start === -1 ? BYTE_ORDER_MARK.length : start, ROBOTS_BYTES_MAX));
  for (const line of text.split(/\r\n|\r|\n/)) {
    const content = line.slice(0, LINE_CHARACTERS_MAX).split('#', 1)[0] ?? '';
    const colon = content.indexOf(':');
    if (colon > 0) yield [trimmed(content.slice(0, colon)).toLowerCase(), trimmed(content.slice(colon + 1))];
  }
}

/**
 * Removes only blanks and tabs at both ends. Any other invisible character, such as a byte order mark in the middle of
 * the file, makes the line a different one.
 */
function trimmed(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && BLANKS.has(text.charAt(start))) start += 1;
  while (end > start && BLANKS.has(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function groupFor(
  value: string,
  crawler: string,
  { own, everybody }: { readonly own: Group; readonly everybody: Group },
): Group | undefined {
  if (/^\*(?:\s|$)/.test(value)) return everybody;
  const token = /^[a-z_-]+/i.exec(value)?.[0];
  return token?.toLowerCase() === crawler.toLowerCase() ? own : undefined;
}

function ruleOf(value: string, isAllowing: boolean): Rule {
  const pattern = escaped(value);
  const isAnchored = pattern.endsWith('$');
  return {
    isAllowing,
    isAnchored,
    parts: (isAnchored ? pattern.slice(0, -1) : pattern).split('*'),
    length: pattern.length,
  };
}

/**
 * Encodes a pattern as a URL is sent: characters that are not ASCII are percent-encoded, and encoded bytes have
 * upper-case digits.
 */
function escaped(pattern: string): string {
  return pattern
    .replace(/\P{ASCII}+/gu, (characters) => encodeURIComponent(wellFormed(characters)))
    .replace(/%[\da-f]{2}/gi, (code) => code.toUpperCase());
}

function matches({ parts, isAnchored }: Rule, target: string): boolean {
  const [first = '', ...others] = parts;
  if (!target.startsWith(first)) return false;
  if (others.length === 0) return !isAnchored || target.length === first.length;
  const last = isAnchored ? (others.pop() ?? '') : '';
  let position = first.length;
  for (const part of others) {
    const found = target.indexOf(part, position);
    if (found === -1) return false;
    position = found + part.length;
  }
  return !isAnchored || (target.length - last.length >= position && target.endsWith(last));
}

function delayOf(value: string): number | undefined {
  const seconds = Number(value);
  if (value === '' || !(seconds >= 0)) return undefined;
  return Math.min(seconds, CRAWL_DELAY_SECONDS_MAX) * 1000;
}
