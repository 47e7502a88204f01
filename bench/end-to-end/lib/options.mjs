/** Parses the command line of a bench: its options by their defaults, which determine their types. `--help` prints the comment at the beginning of the program. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

/** @typedef {Readonly<Record<string, number | string | boolean>>} Defaults */
/**
 * Type of an option with this default: any number for a default of 5.
 * @template Value
 * @typedef {Value extends number ? number : Value extends string ? string : boolean} Wide
 */

const FAILED = 2;

/**
 * @param {string} message
 * @param {Defaults} defaults
 * @returns {never}
 */
function fail(message, defaults) {
  process.stderr.write(`${message}; options and their defaults: ${JSON.stringify(defaults)}\n`);
  process.exit(FAILED);
}

/** Returns the comment at the beginning of the program that Node.js was started with. */
function descriptionOfProgram() {
  const [, comment = ''] = /^\/\*\*\s*(.*?)\s*\*\//s.exec(readFileSync(process.argv[1], 'utf8')) ?? [];
  return comment.replaceAll(/^ *\* ?/gm, '');
}

/** Prints the usage of the program and exits with 0 if the arguments ask for it. */
export function helpWhereAsked(defaults = {}) {
  if (!process.argv.slice(2).some((argument) => argument === '--help' || argument === '-h')) return;
  const options = Object.entries(defaults).map(
    ([name, value]) => `  --${name}${value === false ? '' : `  ${value}`}\n`,
  );
  const listed = options.length === 0 ? '' : `\nOptions and their defaults:\n${options.join('')}`;
  process.stdout.write(`${descriptionOfProgram()}\n${listed}`);
  process.exit(0);
}

/**
 * Returns the options of the command line, with defaults for missing ones: non-negative numbers, strings or switches, by the type of the default.
 * Other arguments are in `positionals`. Exits with 2 and a message if an option is unknown or has another type.
 * @template {Defaults} Given
 * @param {Given} defaults
 * @returns {{ [Name in keyof Given]: Wide<Given[Name]> } & { positionals: string[] }}
 */
export function readOptions(defaults, { positionals: positionalsAllowed = false } = {}) {
  helpWhereAsked(defaults);
  /** @returns {{ type: 'boolean' | 'string' }} */
  const optionOf = (value) => ({ type: typeof value === 'boolean' ? 'boolean' : 'string' });
  const options = Object.fromEntries(Object.entries(defaults).map(([name, value]) => [name, optionOf(value)]));
  const parse = () => {
    try {
      return parseArgs({ options, allowPositionals: positionalsAllowed });
    } catch (error) {
      return fail(error.message, defaults);
    }
  };
  const { values, positionals } = parse();
  const told = Object.entries(values).map(([name, value]) => [
    name,
    typeof defaults[name] === 'number' ? numberOf(`--${name}`, String(value), defaults) : value,
  ]);
  return { ...defaults, ...Object.fromEntries(told), positionals };
}

/**
 * Returns numbers that are given by position on the command line, in the order of the defaults.
 * @template {Readonly<Record<string, number>>} Given
 * @param {Given} defaults
 * @returns {{ [Name in keyof Given]: number }}
 */
export function readNumbers(defaults) {
  const { positionals } = readOptions({}, { positionals: true });
  const names = Object.keys(defaults);
  if (positionals.length > names.length) fail(`"${positionals[names.length]}" is one too many`, defaults);
  const told = positionals.map((text, at) => [names[at], numberOf(names[at], text, defaults)]);
  return { ...defaults, ...Object.fromEntries(told) };
}

/**
 * @param {string} name
 * @param {string} text
 * @param {Defaults} defaults
 */
function numberOf(name, text, defaults) {
  const number = Number(text);
  return text.trim() !== '' && number >= 0 ? number : fail(`${name} takes a number, not "${text}"`, defaults);
}
