/** Formats numbers, times and values. */

const counts = new Intl.NumberFormat('en');
const shares = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });
const times = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });
const VALUE_CHARACTERS_MAX = 200;

export function count(value: number): string {
  return counts.format(value);
}

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** In powers of a thousand: `1.2 MB`. */
export function bytes(value: number): string {
  const step = value < 1 ? 0 : Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log10(value) / 3));
  const scaled = value / 1000 ** step;
  return `${scaled.toFixed(step === 0 || scaled >= 100 ? 0 : 1)} ${BYTE_UNITS[step] ?? ''}`;
}

export function share(value: number): string {
  return shares.format(value);
}

/** In the reader's time zone; — for none. */
export function time(iso: string | null | undefined): string {
  return iso === null || iso === undefined ? '—' : times.format(new Date(iso));
}

/** `320 ms`, `52.4 s`, `3 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const tenths = Math.round(ms / 100);
  if (tenths < 600) return `${(tenths / 10).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${count(Math.floor(seconds / 60))} min ${seconds % 60} s`;
}

/** Position in a recording: `1:02:03`, or `2:03`. */
export function playTime(seconds: number): string {
  const whole = Math.floor(seconds);
  const two = (part: number): string => String(part).padStart(2, '0');
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours === 0 ? `${minutes}:${two(whole % 60)}` : `${hours}:${two(minutes)}:${two(whole % 60)}`;
}

/** Formats a field's value in one line. */
export function shown(value: unknown): string {
  const full = plain(value);
  return full.length <= VALUE_CHARACTERS_MAX ? full : `${full.slice(0, VALUE_CHARACTERS_MAX)}…`;
}

function plain(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(plain).join(', ');
  return place(value) ?? JSON.stringify(value);
}

/** Undefined for anything other than coordinates. */
function place(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { latitude, longitude, ...others } = value as Readonly<Record<string, unknown>>;
  const isPlace = typeof latitude === 'number' && typeof longitude === 'number' && Object.keys(others).length === 0;
  return isPlace ? `${latitude}, ${longitude}` : undefined;
}
