/** Which lists are opened at startup and in the background, and in which order. */
import { pino } from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ServiceError } from '../../platform/index.js';
import type { ListedList, SearchSettings } from '../contract/types.js';
import { ListRounds } from './list-rounds.js';

const settingsOf = (list: string, more: Partial<SearchSettings> = {}): SearchSettings => ({
  ...{ account: 'default', list, language: 'en', synonym_rules: [], query_rules: [] },
  ...more,
});
const listed = (ids: readonly string[]): ListedList[] => ids.map((id) => ({ id, settings: settingsOf(id) }));

interface Setting {
  /** Ids in the register, least recently used first. */
  readonly used?: readonly string[];
  /** Those of them with nothing left to do. */
  readonly resting?: readonly string[];
  readonly openMax?: number;
  readonly open?: readonly string[];
  /** Fails for some lists. */
  readonly failure?: (id: string) => Error | undefined;
  /** Resolves when the list is open. */
  readonly held?: (id: string) => Promise<void>;
}

function roundsOf(setting: Setting = {}) {
  const { used = [], resting = [], openMax = 100, open = [] } = setting;
  const { failure = () => undefined, held = () => Promise.resolve() } = setting;
  const opened: string[] = [];
  const logged: Record<string, unknown>[] = [];
  let opening = 0;
  const rounds = new ListRounds({
    log: pino(
      { level: 'error' },
      { write: (line: string) => logged.push(JSON.parse(line) as Record<string, unknown>) },
    ),
    register: { ids: () => [...used], has: (id) => resting.includes(id) },
    openMax,
    isOpen: (id) => open.includes(id),
    open: async (id, { list }) => {
      expect(list).toBe(id);
      opening += 1;
      most.opening = Math.max(most.opening, opening);
      await held(id);
      opening -= 1;
      opened.push(id);
      const error = failure(id);
      if (error !== undefined) throw error;
    },
  });
  const most = { opening: 0 };
  onTestFinished(() => rounds.stop());
  return { rounds, opened, logged, most };
}

describe('ListRounds.begin', () => {
  it('opens the lists used last, and then those with unfinished work, the last used first', async () => {
    const { rounds, opened } = roundsOf({
      used: ['deleted', 'resting', 'busy', 'e', 'f'],
      resting: ['resting', 'e', 'f'],
      openMax: 2,
    });
    await rounds.begin(listed(['f', 'e', 'busy', 'resting', 'unknown', 'newer']));
    // Lists that the register lacks have been used since it was written.
    expect(opened).toEqual(['unknown', 'newer']);
    await expect.poll(() => opened).toEqual(['unknown', 'newer', 'busy']);
    rounds.add('later', settingsOf('later'));
    await expect.poll(() => opened).toEqual(['unknown', 'newer', 'busy', 'later']);
  });

  it('opens lists with unfinished work that were used before others last', async () => {
    const { rounds, opened } = roundsOf({ used: ['a', 'b', 'c', 'd'], openMax: 1 });
    await rounds.begin(listed(['c', 'd', 'a', 'b']));
    await expect.poll(() => opened).toEqual(['d', 'c', 'b', 'a']);
  });

  it('opens no more than 64 lists at once, whatever the limit on open lists', async () => {
    const ids = Array.from({ length: 70 }, (_, number) => `list${number}`);
    const { rounds, opened, most } = roundsOf({ used: ids, resting: ids.slice(0, 5) });
    await rounds.begin(listed(ids));
    expect([opened.toSorted(), most]).toEqual([ids.slice(-64).toSorted(), { opening: 64 }]);
    await expect.poll(() => opened.slice(64)).toEqual(['list5']);
  });
});

describe('ListRounds.add', () => {
  it('opens lists one after the other, in the order in which they were added, and each once', async () => {
    const { rounds, opened, most } = roundsOf();
    for (const id of ['a', 'b', 'a', 'c']) rounds.add(id, settingsOf(id));
    expect(opened).toEqual([]);
    await expect.poll(() => opened).toEqual(['a', 'b', 'c']);
    expect(most).toEqual({ opening: 1 });
    rounds.add('a', settingsOf('a'));
    await expect.poll(() => opened).toEqual(['a', 'b', 'c', 'a']);
  });

  it('waits for a list that takes long before it opens the next one', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    let open = (): void => undefined;
    const { rounds, opened } = roundsOf({ held: () => new Promise((resolve) => (open = resolve)) });
    for (const id of ['a', 'b']) rounds.add(id, settingsOf(id));
    const passing = (ms: number) => vi.advanceTimersByTimeAsync(ms);
    await passing(60_000);
    await new Promise((resolve) => setImmediate(resolve));
    await passing(60_000);
    expect(opened).toEqual([]);
    open();
    await passing(60_000);
    expect(opened).toEqual(['a']);
    open();
    await passing(60_000);
    expect(opened).toEqual(['a', 'b']);
  });

  it('opens nothing more once it is stopped, and stops without waiting for its next turn', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { rounds, opened } = await new Promise<ReturnType<typeof roundsOf>>((resolve) => {
      const made = roundsOf({
        failure: () => {
          // The list is open in the next moment.
          void made.rounds.stop().then(() => resolve(made));
          return undefined;
        },
      });
      for (const id of ['a', 'b']) made.rounds.add(id, settingsOf(id));
    });
    rounds.add('c', settingsOf('c'));
    for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(opened).toEqual(['a']);
  });

  it('opens nothing if it is stopped before its first turn', async () => {
    const { rounds, opened } = roundsOf();
    rounds.add('a', settingsOf('a'));
    await rounds.stop();
    expect(opened).toEqual([]);
  });

  it('goes on after a list that cannot be opened, and logs the failure unless the log has it already', async () => {
    const codes = ['not-ready', 'list-damaged', 'shutting-down', 'list-not-found', 'storage-full'] as const;
    const failures = new Map<string, Error>([
      ...codes.map((code) => [code, new ServiceError(code, 'It cannot be opened.')] as const),
      ['unexpected', new Error('What nobody expected')],
    ]);
    const { rounds, opened, logged } = roundsOf({ failure: (id) => failures.get(id) });
    const ids = [...codes, 'unexpected', 'last'];
    for (const id of ids) rounds.add(id, settingsOf(id));
    await expect.poll(() => opened).toEqual(ids);
    expect(logged).toMatchObject([
      { id: 'storage-full', account: 'default', list: 'storage-full' },
      { id: 'unexpected', err: { message: 'What nobody expected' } },
    ]);
  });

  it('opens a list again later for which the process had no room, and no other', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const failures = new Map<string, Error>([
      ['full', new ServiceError('resources-exhausted', 'No descriptors.')],
      ['failed', new Error('What nobody expected')],
    ]);
    const { rounds, opened, logged } = roundsOf({
      failure: (id) => {
        const error = failures.get(id);
        failures.delete(id);
        return error;
      },
    });
    for (const id of ['full', 'failed']) rounds.add(id, settingsOf(id));
    const passing = () => vi.advanceTimersByTimeAsync(100);
    await expect.poll(() => passing().then(() => opened)).toEqual(['full', 'failed']);
    await vi.advanceTimersByTimeAsync(6000);
    await expect.poll(() => passing().then(() => opened)).toEqual(['full', 'failed', 'full']);
    expect(logged).toHaveLength(2);
  });
});

it('ListRounds.addWithModels opens closed lists with a model of any kind', async () => {
  const { rounds, opened } = roundsOf({ open: ['open'] });
  rounds.addWithModels([
    { id: 'plain', settings: settingsOf('plain') },
    { id: 'none', settings: settingsOf('none', { model: null, image_model: null, transcription_model: null }) },
    { id: 'open', settings: settingsOf('open', { model: 'words' }) },
    { id: 'words', settings: settingsOf('words', { model: 'words' }) },
    { id: 'pictures', settings: settingsOf('pictures', { image_model: 'pictures' }) },
    { id: 'speech', settings: settingsOf('speech', { transcription_model: 'speech' }) },
  ]);
  await expect.poll(() => opened).toEqual(['words', 'pictures', 'speech']);
});
