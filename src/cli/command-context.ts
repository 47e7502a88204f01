/** Context of a command: settings, access to the service, and output. */
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
  /** Source of typed secrets. */
  readonly input: SecretSource;
  /** Runs `work` with the service. For commands that may create a data directory. */
  withService<Result>(work: (client: ServiceClient) => Promise<Result>): Promise<Result>;
  /**
   * Like `withService`, for commands that only read or change existing data: a missing data directory is an error, and
   * nothing is created.
   */
  withData<Result>(work: (client: ServiceClient) => Promise<Result>): Promise<Result>;
}

/** Runs a command. Ends with its exit status after all its output has been written. */
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

/** Writes an answer without a format for people: indented on a terminal, otherwise in one line. */
export function writeValue(output: Output, value: unknown): void {
  if (output.isTerminal) output.write(`${jsonText(value, 2)}\n`);
  else writeJson(output, value);
}
