/**
 * Compares reports over several days with the searches and clicks that were sent: random searches and clicks, days
 * that pass, restarts and kills, and reports of any range of days. For another or a longer sequence:
 * `GANNET_MODEL_SEED=7 GANNET_MODEL_STEPS=2000 npx vitest run test/model/counted-days.test.ts`.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { SeededRandom } from '../support/random.js';
import { startTestService, type TestService } from '../support/service.js';
import { itWhere } from '../support/skip.js';

const STEPS = Number(process.env['GANNET_MODEL_STEPS'] ?? 100);
const SEED = Number(process.env['GANNET_MODEL_SEED'] ?? 1);
const DAYS_MAX = 12;
const DAY_MS = 24 * 3_600_000;
const TERMS_MAX = 20;
const TERM_CHARACTERS_MAX = 100;
const TIMEOUT_MS = 24 * 3_600_000;
const LONG = 'gull '.repeat(40);
/** Some of these are the same term in another case or after their first 100 characters. */
const TERMS = ['gull', 'Gull', 'GULL', 'tern', 'auk', 'zzz', 'Zzz', 'qqq', 'é', 'É', LONG, `${LONG} auk`];
const MANY_TERMS = 40;
const TARGETS = ['list/birds', 'list/fish', 'group/all'] as const;

interface Counted {
  readonly target: string;
  readonly day: string;
  readonly kind: 'search' | 'click';
  readonly term?: string;
  readonly isZero?: boolean;
}
interface Report {
  readonly to: string;
  readonly catching_up: boolean;
}
interface Answer {
  readonly query_id: string;
  readonly total_count: number;
  readonly results: readonly { readonly name: string; readonly list_name?: string }[];
}

const random = new SeededRandom(SEED);
const counted: Counted[] = [];
let jumps = 0;
let today = '';
let last: Answer | undefined;
let service: TestService;
beforeAll(async () => {
  // The clock starts at midnight, so that no day ends by itself during the test.
  const JUMPING_CLOCK_AHEAD_MS = String(DAY_MS - (Date.now() % DAY_MS));
  service = await startTestService({ clock: 'jumping', env: { GANNET_LOG_LEVEL: 'error', JUMPING_CLOCK_AHEAD_MS } });
  for (const name of ['birds', 'fish']) {
    const made = await service.client.post('/list/default', {
      name,
      language: 'none',
      searchable_fields: [{ name: 'title' }],
    });
    expect(made.status, made.text).toBe(201);
  }
  await service.client.bulk('default', 'birds', [
    { name: 'a', title: 'gull' },
    { name: 'b', title: 'tern auk' },
  ]);
  await service.client.bulk('default', 'fish', [{ name: 'a', title: 'eel é' }]);
  const group = { name: 'all', lists: [{ list: 'birds' }, { list: 'fish' }] };
  expect((await service.client.post('/list-group/default', group)).status).toBe(201);
  today = (await reported('list/birds')).to;
});
afterAll(() => service.close());

async function reported(target: string, query: Readonly<Record<string, string>> = {}): Promise<Report> {
  const path = `/analytics/${target.replace('/', '/default/')}`;
  return eventually(
    async () => (await service.client.get(path, query)).body as Report,
    ({ catching_up: isBehind }) => !isBehind,
  );
}

/** Jumps one day at a time: signals that come together count as one. */
async function jump(): Promise<void> {
  const before = (await reported('list/birds')).to;
  service.jumpADay();
  const { to } = await eventually(
    () => reported('list/birds'),
    (report) => report.to > before,
  );
  today = to;
}

async function search(): Promise<void> {
  const target = random.pick(TARGETS);
  const many = random.below(3) === 0;
  const query = random.below(8) === 0 ? undefined : many ? `word${random.below(MANY_TERMS)}` : random.pick(TERMS);
  const skip = random.below(6) === 0 ? 1 : 0;
  const version = target.startsWith('group') ? 'latest' : '1';
  const path = `/search/${target.startsWith('group') ? 'group/default/all' : `default/${target.slice(5)}`}/${version}`;
  const { status, text, body } = await service.client.post(path, {
    skip,
    typo_tolerance: false,
    ...(query && { query }),
  });
  expect(status, text).toBe(200);
  last = body as Answer;
  if (skip > 0) return;
  const term = query?.toLowerCase().slice(0, TERM_CHARACTERS_MAX);
  counted.push({ target, day: today, kind: 'search', ...(term && { term }), isZero: last.total_count === 0 });
}

/** Clicks on a hit of the last search, counted for any list or the group. */
async function click(): Promise<void> {
  const hit = last?.results[0];
  if (last === undefined || hit === undefined) return;
  const target = random.pick(TARGETS);
  const [scope, name] = target.split('/');
  const body = { query_id: last.query_id, result_id: random.below(6) === 0 ? ' ' : hit.name };
  const { status } = await service.client.post(`/search/analytics/click/${scope}/default/${name}`, body);
  expect(status).toBe(204);
  if (body.result_id !== ' ') counted.push({ target, day: today, kind: 'click' });
}

function dayBefore(day: string, days: number): string {
  return new Date(Date.parse(day) - days * DAY_MS).toISOString().slice(0, 10);
}

function topOf(terms: readonly string[]): number[] {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return [...counts.values()].sort((left, right) => right - left).slice(0, TERMS_MAX);
}

/** Checks the report of some days, and the count of each term in it. */
async function check(target: string, from: string, to: string): Promise<void> {
  const report = (await reported(target, { from, to })) as unknown as Record<string, unknown>;
  const own = counted.filter((each) => each.target === target && each.day >= from && each.day <= to);
  const searches = own.filter(({ kind }) => kind === 'search');
  const [zero, clicks] = [searches.filter(({ isZero }) => isZero), own.filter(({ kind }) => kind === 'click')];
  const days: string[] = [];
  for (let day = to; day >= from; day = dayBefore(day, 1)) days.unshift(day);
  const on = (some: readonly Counted[], day: string) => some.filter((each) => each.day === day).length;
  expect(report, `${target} from ${from} to ${to}, seed ${SEED}`).toMatchObject({
    from,
    to,
    total_searches: searches.length,
    zero_result_searches: zero.length,
    total_clicks: clicks.length,
    click_through_rate: searches.length === 0 ? 0 : clicks.length / searches.length,
    daily: days.map((date) => ({
      date,
      searches: on(searches, date),
      zero_result_searches: on(zero, date),
      clicks: on(clicks, date),
    })),
  });
  for (const [member, some] of [
    ['top_searches', searches],
    ['top_zero_result_searches', zero],
  ] as const) {
    const top = report[member] as { readonly term: string; readonly count: number }[];
    const terms = some.flatMap(({ term }) => term ?? []);
    expect(
      top.map(({ count }) => count),
      member,
    ).toEqual(topOf(terms));
    for (const { term, count } of top) expect(count, term).toBe(terms.filter((each) => each === term).length);
  }
}

/** What a report has shown is not lost, however the service ends. */
async function restart(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  for (const target of TARGETS) await check(target, dayBefore(today, DAYS_MAX), today);
  await service.stop(signal);
  await service.start();
  for (let again = 0; again < jumps; again += 1) await jump();
  for (const target of TARGETS) await check(target, dayBefore(today, DAYS_MAX), today);
}

it(
  `Reports count ${STEPS} random steps over several days as sent, from seed ${SEED}`,
  { timeout: TIMEOUT_MS },
  async () => {
    for (let step = 0; step < STEPS; step += 1) {
      const drawn = random.below(100);
      if (drawn < 60) await search();
      else if (drawn < 85) await click();
      else if (drawn < 95) {
        const to = dayBefore(today, random.below(3));
        await check(random.pick(TARGETS), dayBefore(to, random.below(DAYS_MAX)), to);
      } else if (drawn < 98 && jumps < DAYS_MAX) {
        jumps += 1;
        await jump();
      } else if (drawn >= 98) await restart(random.pick(['SIGTERM', 'SIGKILL']));
    }
    for (const target of TARGETS) await check(target, dayBefore(today, DAYS_MAX), today);
  },
);

/** The number of terms that a day keeps after it has ended (service document 4.5). */
const KEPT_A_DAY = 500;
const OFTEN = KEPT_A_DAY + 10;
const RARE = 40;
const AT_ONCE = 32;

/** Searches for each term this many times; no search has hits. */
async function searchAll(terms: readonly string[], times: number): Promise<void> {
  const all = Array.from({ length: times }, () => terms).flat();
  for (let from = 0; from < all.length; from += AT_ONCE) {
    const asked = all.slice(from, from + AT_ONCE).map(async (query) => {
      const { status, text } = await service.client.post('/search/default/terms/1', { query, typo_tolerance: false });
      expect(status, text).toBe(200);
    });
    await Promise.all(asked);
  }
}

interface Terms {
  readonly total_searches: number;
  readonly top_searches: readonly { readonly term: string; readonly count: number }[];
  readonly top_zero_result_searches: Terms['top_searches'];
}
async function countOf(term: string): Promise<number[]> {
  const report = (await reported('list/terms')) as unknown as Terms;
  return [report.top_searches, report.top_zero_result_searches].map(
    (top) => top.find((each) => each.term === term)?.count ?? 0,
  );
}

/**
 * A thousand searches: a usual run checks what a day keeps only in the test of roll-ups
 * (src/analytics/roll-up.test.ts).
 */
itWhere(STEPS > 100, 'a thousand searches: GANNET_MODEL_STEPS=101 makes them')(
  'A day that has ended keeps its 500 most frequent terms',
  async () => {
    const made = await service.client.post('/list/default', {
      name: 'terms',
      language: 'none',
      searchable_fields: [{ name: 'title' }],
    });
    expect(made.status, made.text).toBe(201);
    const often = Array.from({ length: OFTEN }, (_, at) => `often${at}`);
    const rare = Array.from({ length: RARE }, (_, at) => `rare${at}`);
    await searchAll(often, 2);
    await searchAll(rare, 1);
    await jump();
    jumps += 1;
    // On a day with few terms all are kept: those that were rare the day before are reported with their counts since
    // then.
    await searchAll(rare.slice(0, 10), 4);
    const total = OFTEN * 2 + RARE + 10 * 4;
    for (const again of ['at once', 'stopped', 'killed']) {
      if (again !== 'at once') await restart(again === 'stopped' ? 'SIGTERM' : 'SIGKILL');
      // The hours of a day are summed up some time after midnight.
      await eventually(
        () => countOf('rare0'),
        (counts) => counts.every((count) => count === 4),
      );
      const report = (await reported('list/terms')) as unknown as Terms;
      expect(report.total_searches, again).toBe(total);
      for (const top of [report.top_searches, report.top_zero_result_searches]) {
        // It is not defined which of several equally frequent terms are shown.
        const counts = top.map(({ count }) => count);
        expect(counts, again).toEqual([...Array<number>(10).fill(4), ...Array<number>(TERMS_MAX - 10).fill(2)]);
      }
    }
  },
);
