/** Built checkouts of the service that are measured in turns, as given on the command line. */
import { join, resolve } from 'node:path';

/** @typedef {{ readonly name: string; readonly folder: string }} Checkout */

const FAILED = 2;

/**
 * Parses `<name>=<folder>` arguments. Exits with 2 and a message if there are none, one has another form, or two have the same name.
 * @param {readonly string[]} positionals
 * @returns {readonly Checkout[]}
 */
export function checkoutsOf(positionals) {
  const fail = (message) => {
    process.stderr.write(`${message}\n`);
    process.exit(FAILED);
  };
  if (positionals.length === 0) fail('name the checkouts to measure: <name>=<folder> …');
  const checkouts = positionals.map((each) => {
    const [, name, folder] = /^(\w+)=(.+)$/.exec(each) ?? [];
    if (name === undefined) fail(`"${each}" is not <name>=<folder>`);
    return { name, folder: resolve(folder) };
  });
  if (new Set(checkouts.map(({ name }) => name)).size < checkouts.length) fail('give each checkout a name of its own');
  return checkouts;
}

/**
 * Imports the checkout's own module, which starts the checkout's program.
 * @param {Checkout} checkout
 * @returns {Promise<Pick<typeof import('./service.mjs'), 'startService' | 'createKey'>>}
 */
export const serviceOf = ({ folder }) => import(join(folder, 'bench', 'end-to-end', 'lib', 'service.mjs'));
