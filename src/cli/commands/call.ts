/** `gannet call`: calls any operation of the registry by its name. */
import { FEATURES } from '../../features.js';
import { agentToolName, jsonBodyBytesMax, type Operation } from '../../operations/index.js';
import { nearestName } from '../../platform/index.js';
import { bodyText } from '../body-text.js';
import type { CommandContext } from '../command-context.js';
import { CommandError, EXIT, type ExitStatus } from '../exit-codes.js';
import { openSource } from '../import-source.js';
import { operationHelp, operationTable } from '../operation-help.js';
import { operationInput } from '../operation-input.js';
import { jsonText } from '../output.js';
import type { ServiceClient } from '../service-client.js';

export interface CallOptions {
  readonly account?: string;
  readonly param: readonly string[];
  readonly body?: string;
  readonly input?: string;
  readonly contentType?: string;
  readonly help?: boolean;
}

/** Calls an operation, or lists all of them if none is named. Prints a JSON answer as JSON, and a text as it is. */
export async function callOperation(
  context: CommandContext,
  name: string | undefined,
  options: CallOptions,
): Promise<ExitStatus> {
  const { output, config } = context;
  const operations = await (await context.load()).allOperations();
  assertTogether(name, options);
  if (name === undefined) {
    output.write(options.help === true ? CALL_HELP : operationTable(operations));
    return EXIT.done;
  }
  const operation = requiredOperation(operations, name);
  if (options.help === true) {
    output.write(operationHelp(operation, operations, output));
    return EXIT.done;
  }
  const source = options.input === undefined ? undefined : await openSource(options.input);
  const input = operationInput(operation, {
    params: options.param,
    body: options.body === undefined ? undefined : await bodyText(options.body, jsonBodyBytesMax(operation, config)),
    stream: source?.stream,
    contentType: options.contentType,
    account: options.account ?? config.account.name,
    isAccountGiven: options.account !== undefined,
  });
  const called = (client: ServiceClient) => client.call(operation.name, input);
  const answer = await (mayBegin(operation) ? context.withService(called) : context.withData(called));
  if (answer !== undefined) output.write(typeof answer === 'string' ? answer : `${jsonText(answer)}\n`);
  return EXIT.done;
}

/** Throws a CommandError if an option would be ignored. */
function assertTogether(name: string | undefined, { account, param, body, input, contentType }: CallOptions): void {
  if (contentType !== undefined && input === undefined)
    throw new CommandError('--content-type needs --input, whose type it says.', EXIT.usage);
  const isAsked = [account, body, input].some((option) => option !== undefined) || param.length > 0;
  if (name === undefined && isAsked)
    throw new CommandError(
      'Name the operation to call. gannet call without arguments lists all operations.',
      EXIT.usage,
    );
}

/**
 * True if the call may create a data directory. As for the operation's own command, if it has one: a call in the wrong
 * folder must not create one.
 */
function mayBegin({ name, method }: Operation): boolean {
  if (method === 'GET' || method === 'DELETE') return false;
  const spec = FEATURES.flatMap(({ commands = [] }) => commands).find(({ operation }) => operation === name);
  return spec === undefined || spec.begins === true;
}

const CALL_HELP = `Usage: gannet call [OPERATION] [options]

Calls any operation of the service by its name and prints the answer.

Without OPERATION, lists all operations. gannet call OPERATION --help shows what one takes.

Options:
  --param <name=value>     a path parameter, an option or a member of the body; repeatable
  --body <json>            the body as a whole; @FILE reads it from a file, - from standard input
  --input <file>           data for operations that take a stream; - for standard input
  --content-type <type>    content type of that data
  --account <name>         account (default: the configured one)
  --config <file>          settings file

Example: gannet call search.list --param list=films --param version=1 --param query=bird
`;

function requiredOperation(operations: readonly Operation[], name: string): Operation {
  const found = operations.find((operation) => operation.name === name);
  if (found !== undefined) return found;
  // Accepts the names that documentation and agents use for some operations, such as `list_set_synonyms`.
  const byName = new Map(
    operations.flatMap((operation) => [
      [agentToolName(operation), operation.name],
      [operation.name, operation.name],
    ]),
  );
  const meant = byName.get(nearestName(name, byName.keys()) ?? '');
  const near = meant === undefined ? '' : ` Did you mean '${meant}'?`;
  throw new CommandError(
    `There is no operation '${name}'.${near} gannet call without arguments lists all operations.`,
    EXIT.usage,
  );
}
