/** Computes figures of searches beside other work from turns and turns alone: tails with their spread, and processor time by thread. */
import { seededRandom } from '../../end-to-end/lib/random.mjs';
import { barRow, quantile } from '../../end-to-end/lib/report.mjs';

const RESAMPLED = 1000;
/** Quantiles of the printed spread, which contains nine of ten resamplings. */
const SPREAD = [0.05, 0.95];
const THREADS_SHOWN = 8;

const median = (values) => quantile(values, 0.5);
const p99 = ({ latencies }) => Float64Array.from(latencies).sort()[Math.floor(0.99 * latencies.length)];

/**
 * Returns the ratio of the rounds. A round is `{ before, turn, after }`: a turn between two alone. `ratio` divides the median p99 of the turns by that of the turns alone, so
 * that a stall of the machine affects one turn only. `low` and `high` are its spread by resampling of rounds with repetition. `ofRounds` is the median of
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

/** Returns the same for turns alone: the second of each round divided by its first, which differ only by noise of the machine. */
export const ratioAlone = (rounds) =>
  ratioOf(rounds.map(({ before, after }) => ({ before, turn: after, after: before })));

const said = ({ ratio, low, high, ofRounds }) =>
  `${ratio.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)}; median of rounds ${ofRounds.toFixed(2)})`;

/** Returns rows of a table. `bar` is the greatest allowed ratio. */
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

/** Returns the latencies of the median turn. */
function latenciesOf(turns) {
  return [turns.map(({ p50 }) => p50), turns.map(p99)].map((each) => median(each).toFixed(2)).join(', ');
}

/** Returns rows of processor milliseconds per second by name of thread, for turns of several kinds, `{ alone: turns, … }`. */
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
