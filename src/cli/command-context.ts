/** What every command gets: settings, the way to the service, and where to write. */
import type { Config } from '../platform/index.js';
import type { ExitStatus } from './exit-codes.js';
import { jsonText, type Output } from './output.js';
import type { SecretSource } from './secret-input.js';
import type { ServiceClient } from './service-client.js';
import { assertDataDirectory, withService } from './with-service.js';
import type { ServiceLoader } from './service-loader.js';

export interface CommandContext {
  readonly config: Config;
  readonly load: ServiceLoader;
  readonly output: Output;
  /** Where secrets are typed. */
  readonly input: SecretSource;
  /** For what may begin a data directory. */
  withService<Result>(work: (client: ServiceClient) => Promise<Result>): Promise<Result>;
  /** For what only looks at what is there, or changes it: a wrong folder is said, and nothing is made in it. */
  withData<Result>(work: (client: ServiceClient) => Promise<Result>): Promise<Result>;
}

/** Runs what a command does, and ends with its exit status once everything that it wrote has been taken. */
export type Run = (work: (context: CommandContext) => Promise<ExitStatus>) => Promise<void>;

export function createContext(
  config: Config,
  load: ServiceLoader,
  { output, input = process.stdin }: { readonly output: Output; readonly input?: SecretSource | undefined },
): CommandContext {
  return {
    ...{ config, load, output, input },
    withService: (work) => withService(config, load, work),
    withData(work) {
      assertDataDirectory(config);
      return withService(config, load, work);
    },
  };
}

export function writeJson(output: Output, value: unknown): void {
  output.write(`${jsonText(value)}\n`);
}

/** An answer that has no form of its own for people: in lines on a terminal, in one for whoever reads the output otherwise. */
export function writeValue(output: Output, value: unknown): void {
  if (output.isTerminal) output.write(`${jsonText(value, 2)}\n`);
  else writeJson(output, value);
}
