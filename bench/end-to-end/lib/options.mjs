/** The command line of a bench: its options by their defaults, which say of what kind they are. */
import { parseArgs } from 'node:util';

/**
 * The options of the command line, with the defaults of those that are not there: a number that is not negative, a text or a switch, as the default is.
 * What stands beside them is in `positionals`. Ends with 2 and a sentence where one is unknown or of another kind.
 */
export function readOptions(defaults, { positionals: positionalsAllowed = false } = {}) {
  const fail = (message) => {
    process.stderr.write(`${message}; options and their defaults: ${JSON.stringify(defaults)}\n`);
    process.exit(2);
  };
  const typeOf = (value) => (typeof value === 'boolean' ? 'boolean' : 'string');
  const options = Object.fromEntries(Object.entries(defaults).map(([name, value]) => [name, { type: typeOf(value) }]));
  const parse = () => {
    try {
      return parseArgs({ options, allowPositionals: positionalsAllowed });
    } catch (error) {
      return fail(error.message);
    }
  };
  const { values, positionals } = parse();
  for (const [name, text] of Object.entries(values)) {
    if (typeof defaults[name] !== 'number') continue;
    values[name] = Number(text);
    if (text.trim() === '' || !(values[name] >= 0)) fail(`--${name} takes a number, not "${text}"`);
  }
  return { ...defaults, ...values, positionals };
}
