/** Reads dates as feeds and pages write them. */
const DAY_MS = 86_400_000;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
/** Hours from UTC. Military letters are not included, because most of those in use are wrong. */
const ZONES: Readonly<Record<string, number>> = {
  z: 0,
  ut: 0,
  utc: 0,
  gmt: 0,
  wet: 0,
  west: 1,
  bst: 1,
  cet: 1,
  cest: 2,
  met: 1,
  eet: 2,
  eest: 3,
  msk: 3,
  est: -5,
  edt: -4,
  cst: -6,
  cdt: -5,
  mst: -7,
  mdt: -6,
  pst: -8,
  pdt: -7,
  akst: -9,
  akdt: -8,
  hst: -10,
  jst: 9,
  kst: 9,
  ist: 5.5,
  aest: 10,
  aedt: 11,
};
const OFFSET = '(?:\\s*(?:(?:gmt|utc|ut)?\\s*([+-])(\\d{2}):?(\\d{2})|([a-z]{1,5})))?';
const TIME = '(\\d{1,2}):(\\d{2})(?::(\\d{2})(?:[.,]\\d{1,9})?)?';
const WORDED = new RegExp(
  `(?:^|[^\\d])(\\d{1,2})[\\s-]+([a-z]{3})[a-z]*\\.?[\\s,-]+(\\d{4}|\\d{2})(?:[\\s,t]+(?:at\\s+)?${TIME}\\s*([ap]m)?${OFFSET})?`,
  'i',
);
const WORDED_AMERICAN = new RegExp(
  `([a-z]{3})[a-z]*\\.?\\s+(\\d{1,2}),?\\s+(\\d{4})(?:[\\s,]+(?:at\\s+)?${TIME}\\s*([ap]m)?${OFFSET})?`,
  'i',
);
const NUMBERED = new RegExp(`^\\s*(\\d{4})-?(\\d{2})?-?(\\d{2})?(?:[t\\s]+${TIME}\\s*([ap]m)?${OFFSET})?\\s*$`, 'i');
const CHARACTERS_MAX = 100;
const EARLIEST_YEAR = 1900;

/**
 * Returns the date as ISO 8601 in UTC with milliseconds. Returns undefined if it cannot be read, lies before 1900, or
 * lies more than a day after `nowMs`, because a record with an impossible date would be shown first for ever. A date
 * without a zone is read as UTC.
 */
export function readDate(text: string | undefined, nowMs: number): string | undefined {
  const input = (text ?? '').slice(0, CHARACTERS_MAX);
  const ms = numbered(input) ?? worded(input) ?? american(input);
  if (ms === undefined || Number.isNaN(ms) || ms > nowMs + DAY_MS) return undefined;
  return new Date(ms).toISOString();
}

function numbered(text: string): number | undefined {
  const found = NUMBERED.exec(text);
  if (found === null) return undefined;
  const [, year, month = '1', day = '1', ...time] = found;
  return momentOf(Number(year), [Number(month) - 1, Number(day)], time);
}

function worded(text: string): number | undefined {
  const found = WORDED.exec(text);
  if (found === null) return undefined;
  const [, day, month = '', year = '', ...time] = found;
  const short = Number(year);
  const full = year.length === 4 ? short : short + (short < 70 ? 2000 : 1900);
  return momentOf(full, [MONTHS.indexOf(month.toLowerCase()), Number(day)], time);
}

function american(text: string): number | undefined {
  const found = WORDED_AMERICAN.exec(text);
  if (found === null) return undefined;
  const [, month = '', day, year, ...time] = found;
  return momentOf(Number(year), [MONTHS.indexOf(month.toLowerCase()), Number(day)], time);
}

/** `time`: hour, minute, second, am or pm, then sign, hours and minutes of the offset, and name of the zone. */
function momentOf(
  year: number,
  [month, day]: readonly [number, number],
  [hour = '0', minute = '0', second = '0', half, sign, offsetHours, offsetMinutes, zone]: readonly (
    string | undefined
  )[],
): number | undefined {
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0);
  if (month < 0 || month > 11 || day < 1 || day > 31 || hours > 24 || Number(minute) > 59 || year < EARLIEST_YEAR)
    return undefined;
  const ms = Date.UTC(year, month, day, hours, Number(minute), Math.min(Number(second), 59));
  // Rejects days that do not exist, such as 31 February.
  if (new Date(Date.UTC(year, month, day)).getUTCDate() !== day) return undefined;
  const named = ZONES[(zone ?? '').toLowerCase()] ?? 0;
  const minutes =
    sign === undefined ? named * 60 : Number(`${sign}1`) * (Number(offsetHours) * 60 + Number(offsetMinutes));
  return ms - minutes * 60_000;
}
