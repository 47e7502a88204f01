import { time } from './format.js';
import { utc } from './when.js';

const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;
const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** How long ago, with the exact time as tooltip. */
export function Ago({ iso }: { readonly iso: string }) {
  return (
    <time dateTime={iso} title={`${time(iso)} (${utc(iso)})`} style={{ whiteSpace: 'nowrap' }}>
      {ago(Date.parse(iso), Date.now())}
    </time>
  );
}

/** Returns `5 minutes ago`, in the largest unit of which there is at least one. */
export function ago(ms: number, nowMs: number): string {
  const seconds = Math.max(0, Math.round((nowMs - ms) / 1000));
  for (const [unit, length] of UNITS) {
    if (seconds >= length) return words.format(-Math.floor(seconds / length), unit);
  }
  return words.format(-seconds, 'second');
}
