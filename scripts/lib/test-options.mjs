/** Options of `npm test`, given behind `--`. */
import { parseArgs } from 'node:util';
import { StepError } from './steps.mjs';

export const USAGE = `Usage: npm test [-- OPTIONS]

Runs everything that proves the product and that something has changed for since it passed; the last line is the sum.

  npm test -- --stages lint,unit      some of the stages
  npm test -- --stages fuzz,tsan      those that are run on demand only
  npm test -- --all                   these, too, and nothing is kept of earlier runs: what the CI runs
  npm test -- --anew                  also what nothing has changed for since it passed
  npm test -- --files 20              with the files of tests that took the most of a processor
  npm test -- --times 10 --busy 1     ten times beside one process that keeps a processor busy; ends with what failed how often

npx vitest run PATH runs single files of tests.
`;

const OPTIONS = /** @type {const} */ ({
  stages: { type: 'string' },
  all: { type: 'boolean', default: false },
  anew: { type: 'boolean', default: false },
  times: { type: 'string', default: '1' },
  busy: { type: 'string', default: '0' },
  files: { type: 'string', default: '0' },
  help: { type: 'boolean', short: 'h', default: false },
});

/** Returns the options by name. Throws a `StepError` for an unknown option, or for a value that is no number where one is needed. */
export function testOptions(args) {
  const values = parsed(args);
  for (const name of ['times', 'busy', 'files']) {
    if (!/^\d{1,3}$/.test(values[name]))
      throw new StepError(`--${name} is ${values[name]}: a whole number is expected.`);
  }
  return values;
}

function parsed(args) {
  try {
    return parseArgs({ args, options: OPTIONS }).values;
  } catch (error) {
    if (!String(error.code).startsWith('ERR_PARSE_ARGS_')) throw error;
    // Drops all but the first sentence, as Node.js then explains to programmers how to allow such an argument.
    const [what] = error.message.split(/\.\s/);
    throw new StepError(`${what.replace(/\.$/, '')}. npm test -- --help says what there is.`);
  }
}
