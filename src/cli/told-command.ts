/**
 * Command that reports unknown options before missing ones. Commander does the reverse, and a misspelt required option
 * is both.
 */
import { Command, type ErrorOptions, type ParseOptionsResult } from 'commander';
import { nearest } from '../platform/index.js';

const MISSING = 'commander.missingMandatoryOptionValue';
const UNKNOWN = 'commander.unknownOption';

export class ToldCommand extends Command {
  /** The first unknown option. */
  #unknown: string | undefined;

  override createCommand(name?: string): ToldCommand {
    return new ToldCommand(name);
  }

  override parseOptions(argv: string[]): ParseOptionsResult {
    const parsed = super.parseOptions(argv);
    this.#unknown = parsed.unknown[0];
    return parsed;
  }

  override error(message: string, options?: ErrorOptions): never {
    if (options?.code !== MISSING || this.#unknown === undefined) return super.error(message, options);
    const word = this.#unknown.split('=', 1)[0] ?? '';
    const known = this.options.flatMap(({ long }) => long ?? []);
    const meant = nearest(word, known);
    const hint = meant === undefined ? '' : `\n(Did you mean ${meant}?)`;
    return super.error(`error: unknown option '${word}'${hint}`, { code: UNKNOWN });
  }
}
