/** What turns of searches beside something say, by turns of searches alone: tails with their spread, and which threads took the processors. */
import { seededRandom } from '../../end-to-end/lib/random.mjs';
import { barRow, quantile } from '../../end-to-end/lib/report.mjs';

const RESAMPLED = 1000;
/** Of ten resamplings nine are between the two ends that are printed. */
const SPREAD = [0.05, 0.95];
const THREADS_SHOWN = 8;

const median = (values) => quantile(values, 0.5);
const p99 = ({ latencies }) => Float64Array.from(latencies).sort()[Math.floor(0.99 * latencies.length)];

/**
 * A round is `{ before, turn, after }`: a turn of its own between two alone. `ratio`: the median of the p99 of its turns by that of those alone, so that a moment in
 * which the machine stood still counts as one turn and no more; `low` and `high`: where it is when rounds are drawn anew, with repetition; `ofRounds`: the median of
 * the ratios of single rounds.
 */
export function ratioOf(rounds) {
  const tails = rounds.map(({ before, turn, after }) => ({ turn: p99(turn), alone: [p99(before), p99(after)] }));
  const ofThese = (those) => median(those.map(({ turn }) => turn)) / median(those.flatMap(({ alone }) => alone));
  const random = seededRandom(7);
  const drawn = Array.from({ length: RESAMPLED }, () =>
    ofThese(tails.map(() => tails[Math.floor(random() * tails.length)])),
  );
  const [low, high] = SPREAD.map((share) => quantile(drawn, share));
  const ofRounds = median(tails.map(({ turn, alone }) => turn / ((alone[0] + alone[1]) / 2)));
  return { ratio: ofThese(tails), low, high, ofRounds };
}

/** The same of the turns alone by themselves: the second of each round by its first, which nothing but the machine makes different. */
export const ratioAlone = (rounds) =>
  ratioOf(rounds.map(({ before, after }) => ({ before, turn: after, after: before })));

const said = ({ ratio, low, high, ofRounds }) =>
  `${ratio.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)}; median of rounds ${ofRounds.toFixed(2)})`;

/** Rows of a table. `bar`: what the ratio is to be at most. */
export function rowsOf(what, rounds, { bar, unit, seconds }) {
  const turns = rounds.map(({ turn }) => turn);
  const figure = ratioOf(rounds);
  const mean = (member) => turns.reduce((sum, turn) => sum + turn[member], 0) / turns.length;
  return [
    barRow(`beside ${what}: p50 and p99, ms`, latenciesOf(turns), '', true),
    barRow(`beside ${what}: times the p99 alone`, said(figure), `≤ ${bar}`, figure.ratio <= bar),
    barRow(`${unit} a second meanwhile`, Math.round(mean('found') / seconds), '', true),
  ];
}

export function rowsAlone(rounds) {
  const turns = rounds.flatMap(({ before, after }) => [before, after]);
  return [
    barRow('half of that, alone: p50 and p99, ms', latenciesOf(turns), '', true),
    barRow('alone: the second turn of a round by its first', said(ratioAlone(rounds)), '', true),
    barRow(
      'sent late by the load itself: p99, ms',
      median(turns.map(({ sentLateP99 }) => sentLateP99)).toFixed(2),
      '',
      true,
    ),
  ];
}

/** Of the turn in the middle. */
function latenciesOf(turns) {
  return [turns.map(({ p50 }) => p50), turns.map(p99)].map((each) => median(each).toFixed(2)).join(', ');
}

/** Milliseconds of processor time a second, by name of the thread: of turns of several kinds, `{ alone: turns, … }`. */
export function threadRows(kinds, seconds) {
  const perSecond = (turns, name) =>
    turns.reduce((sum, { threads }) => sum + (threads.get(name) ?? 0), 0) / turns.length / seconds;
  const all = Object.values(kinds);
  const names = [...new Set(all.flat().flatMap(({ threads }) => [...threads.keys()]))];
  const most = (name) => Math.max(...all.map((turns) => perSecond(turns, name)));
  return names
    .sort((a, b) => most(b) - most(a))
    .slice(0, THREADS_SHOWN)
    .map((name) => [name, ...all.map((turns) => perSecond(turns, name).toFixed(1))]);
}
