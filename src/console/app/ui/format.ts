/** Numbers, times and values as people read them. */

const counts = new Intl.NumberFormat('en');
const shares = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });
const times = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });
const VALUE_CHARACTERS_MAX = 200;

export function count(value: number): string {
  return counts.format(value);
}

export function share(value: number): string {
  return shares.format(value);
}

/** In the reader's own time zone; — for none. */
export function time(iso: string | null | undefined): string {
  return iso === null || iso === undefined ? '—' : times.format(new Date(iso));
}

/** A field's value in one line. */
export function shown(value: unknown): string {
  const full = plain(value);
  return full.length <= VALUE_CHARACTERS_MAX ? full : `${full.slice(0, VALUE_CHARACTERS_MAX)}…`;
}

function plain(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(plain).join(', ');
  return JSON.stringify(value);
}
