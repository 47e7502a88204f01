/** One round: random lists, and random searches of them; all answers before and after a restart and a merge. */
import { holdsTrue, same } from '../model/difference.js';
import type { ListsInFolder } from '../support/lists-in-folder.js';
import { SeededRandom } from '../support/random.js';
import { Answers } from './answers.js';
import {
  checkAlone,
  checkedBase,
  checkExplained,
  checkFloor,
  checkMeaning,
  checkOptions,
  checkPlan,
  checkWindows,
  compared,
  optionsOf,
} from './checks.js';
import type { KeptAnswers } from './kept-answers.js';
import { madeList, madeVector, type MadeList, type MadeSize } from './made-lists.js';
import { madeOthers, madeWords, type OtherOptions, type WordOptions } from './made-searches.js';
import type { Match } from './reference.js';
import { SearchedList, type Found } from './searched-list.js';

const OPTIONS_PER_WORDS = 3;
const PLANS_PER_WORDS = 2;

interface Kept {
  readonly words: WordOptions;
  readonly others: OtherOptions;
  readonly base: Found;
  readonly all: Found;
}

export interface Round {
  readonly seed: number;
  readonly searches: number;
  readonly sizes: readonly MadeSize[];
  readonly answers: KeptAnswers;
}

/** Throws a Difference whose message names the search. */
export async function runRound(lists: ListsInFolder, { seed, searches, sizes, answers }: Round): Promise<void> {
  const random = new SeededRandom(seed);
  const made: MadeList[] = [];
  for (const [at, size] of sizes.entries()) made.push(await madeList(lists, random, `l${seed}-${at}`, size));
  const kept = await searchAll(made, random, searches);
  await lists.close();
  lists.open();
  for (const list of made) list.index = await lists.indexes.open(list.id, list.settings);
  compareKept(made, kept, 'after a restart');
  kept.forEach((ofList, at) => {
    ofList.forEach(({ all }, search) => answers.add(`seed ${seed}, list ${at}, search ${search}`, all));
  });
  for (const list of made) await list.index.reindex();
  compareMerged(made, kept);
  await searchAll(made, random, Math.ceil(searches / 4));
  for (const list of made) await lists.indexes.remove(list.id);
}

function naming<Result>(what: string, words: WordOptions, others: OtherOptions, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`${what}, ${JSON.stringify(optionsOf(words, others))}: ${message}`, { cause: error });
  }
}

async function searchAll(made: readonly MadeList[], random: SeededRandom, searches: number): Promise<Kept[][]> {
  const all = made.map((list) => new SearchedList(list));
  const kept: Kept[][] = all.map(() => []);
  const group = new Answers(all);
  for (let search = 0; search < searches; ++search) {
    const at = random.below(all.length);
    const searched = all[at] as SearchedList;
    const words = madeWords(random, searched.list);
    const what = `list ${searched.list.id} of ${searched.segments} segments, ${searched.recordsByNumber.size} records`;
    const base = naming(what, words, {}, () => {
      const found = checkedBase(searched, words);
      compared.words += 1;
      if (words.query !== '') checkExplained(searched, words, found);
      checkAlone(searched, words, found, random);
      checkFloor(searched, searched.plan(words), found, random);
      checkWindows(searched, searched.plan(words), found, random);
      return found;
    });
    const matches = searched.matches(base);
    for (let number = 0; number < OPTIONS_PER_WORDS; ++number) {
      const others = madeOthers(random);
      const checked = { searched, words, base: matches, random };
      const found = naming(what, words, others, () => checkOptions(checked, others));
      kept[at]?.push({ words, others, base, all: found });
    }
    if (searched.list.settings.model === 'own') {
      const others = madeOthers(random);
      const checked = { searched, words, base: matches, random };
      naming(`${what}, with a vector`, words, others, () => checkMeaning(checked, others, madeVector(random)));
    }
    for (let number = 0; number < PLANS_PER_WORDS; ++number)
      naming(`${what}, plan`, {}, {}, () => checkPlan(searched, random));
    await checkAnswers({ all, at, group }, words, matches, random);
  }
  await group.close();
  for (const searched of all) searched.release();
  return kept;
}

interface Answering {
  readonly all: readonly SearchedList[];
  readonly at: number;
  readonly group: Answers;
}

async function checkAnswers(
  { all, at, group }: Answering,
  words: WordOptions,
  matches: readonly Match[],
  random: SeededRandom,
): Promise<void> {
  const page = { skip: random.pick([0, 0, random.below(30)]), size: random.pick([1, 10, 30]) };
  const own = new Answers(all.slice(at, at + 1));
  const others = madeOthers(random);
  naming('an answer', words, others, () => own.check(matches, words, others, page));
  await own.close();
  // Fields that only one list has narrow each list in its own way.
  const isKnown = (words.search_fields ?? []).every((name) =>
    all.every(({ list }) => list.definition.searchable_fields.some((field) => field.name === name)),
  );
  if (!isKnown || all.length < 2) return;
  const together = all.flatMap((searched, list) => searched.matches(searched.run(searched.plan(words)), list));
  const inGroup = madeOthers(random);
  const ofGroup =
    words.query === '' ? { ...inGroup, ...(inGroup.order === undefined && { ranking: 'none' as const }) } : inGroup;
  naming('an answer of a group', words, ofGroup, () => group.check(together, words, ofGroup, page));
}

function compareKept(made: readonly MadeList[], kept: readonly Kept[][], when: string): void {
  for (const [at, list] of made.entries()) {
    const searched = new SearchedList(list);
    for (const { words, others, all } of kept[at] ?? []) {
      naming(when, words, others, () => {
        same('the answer', searched.run(searched.plan(optionsOf(words, others))), all);
        compared.searches += 1;
      });
    }
    searched.release();
  }
}

/** Where nothing was deleted, a merge changes how well bounds are known, which all scores are divided by, and no more. */
function compareMerged(made: readonly MadeList[], kept: readonly Kept[][]): void {
  for (const [at, list] of made.entries()) {
    if (list.isRewritten) continue;
    const searched = new SearchedList(list);
    for (const { words, base } of kept[at] ?? []) {
      naming(`after a merge into ${searched.segments} segments`, words, {}, () => {
        const found = searched.run(searched.plan(words));
        const names = (numbers: readonly number[]) => numbers.toSorted((left, right) => left - right);
        same('matches', names(found.numbers), names(base.numbers));
        const shares = new Map(found.numbers.map((number, hit) => [number, found.scores[hit] as number]));
        const ratio = (found.scores[0] ?? 1) / (base.scores[0] ?? 1);
        base.numbers.forEach((number, hit) => {
          const [now, before] = [shares.get(number) as number, (base.scores[hit] as number) * ratio];
          holdsTrue('shares of the best score', Math.abs(now - before) < 1e-3 * ratio, () => [number, now, before]);
        });
        compared.searches += 1;
      });
    }
    searched.release();
  }
}
