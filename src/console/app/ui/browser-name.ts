/** Derives a browser's usual name from its `User-Agent`. */

/** The first match counts, since most browsers also name others. */
const BROWSERS = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Chrome|HeadlessChrome|CriOS)\//],
  ['Safari', /\bSafari\//],
] as const;

const SYSTEMS = [
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Android', /\bAndroid\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMacintosh\b|\bMac OS X\b/],
  ['Linux', /\bLinux\b/],
] as const;

/** Returns `Firefox on Windows`, or the text itself if it is no known browser. */
export function browserName(userAgent: string): string {
  const named = (names: typeof BROWSERS | typeof SYSTEMS): string | undefined =>
    names.find(([, pattern]) => pattern.test(userAgent))?.[0];
  const browser = named(BROWSERS);
  if (browser === undefined) return userAgent;
  const system = named(SYSTEMS);
  return system === undefined ? browser : `${browser} on ${system}`;
}
