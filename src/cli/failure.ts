/** Describes any failure of the command line: a message and an exit status, without a stack trace. */
import { ConfigError } from '../platform/config.js';
import { describeSystemError, isSystemError, OperatorError, ServiceError, type Problem } from '../platform/index.js';
import { CommandError, EXIT, type ExitStatus } from './exit-codes.js';
import { describeProblem, ProblemError } from './problem.js';
import { inTypedWords, whatThereIs, type TypedCommand } from './typed-words.js';

export interface Failure {
  readonly sentence: string;
  readonly status: ExitStatus;
}

/** `command` is the called command. With `GANNET_LOG_LEVEL=debug`, an unexpected failure includes its stack trace. */
export function describeFailure(error: unknown, command?: TypedCommand, env: NodeJS.ProcessEnv = process.env): Failure {
  if (error instanceof ProblemError) return failed(told(error.problem, command));
  if (error instanceof ServiceError) return failed(told(error.toProblem(), command));
  if (error instanceof CommandError) return { sentence: error.message, status: error.status };
  if (error instanceof ConfigError) return { sentence: error.message, status: EXIT.usage };
  if (error instanceof OperatorError) return failed(error.message);
  if (isSystemError(error)) return failed(describeSystemError(error));
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  if (isUnloadable(error))
    return failed(`Cannot load a file of the program: ${firstLine(message)}. Run \`npm run setup\` to build it again.`);
  const stack = error instanceof Error && env['GANNET_LOG_LEVEL'] === 'debug' ? `\n${error.stack ?? ''}` : '';
  return failed(
    `Gannet failed because of a bug: ${firstLine(message)} (Set GANNET_LOG_LEVEL=debug to see where.)${stack}`,
  );
}

function told(problem: Problem, command: TypedCommand | undefined): string {
  if (command === undefined) return describeProblem(problem);
  return describeProblem(inTypedWords(problem, command), whatThereIs(problem, command));
}

/** True if a compiled file is missing or truncated. */
function isUnloadable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') return true;
  // A file truncated within a word ends in an undefined name.
  if (error instanceof ReferenceError) return error.message.endsWith(' is not defined');
  return error instanceof SyntaxError && !error.message.includes('JSON');
}

function failed(sentence: string): Failure {
  return { sentence, status: EXIT.failed };
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
