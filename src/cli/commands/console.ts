/** `gannet console link`: signs a person in to the console, once. */
import { writeJson, type CommandContext } from '../command-context.js';
import { EXIT, type ExitStatus } from '../exit-codes.js';

export interface ConsoleLinkOptions {
  readonly account?: string;
  readonly email?: string;
  readonly role?: 'owner' | 'editor' | 'viewer';
  readonly json?: boolean;
}

export async function consoleLink(context: CommandContext, options: ConsoleLinkOptions): Promise<ExitStatus> {
  const { account = context.config.account.name, email, role } = options;
  const body = { ...(email === undefined ? {} : { email }), ...(role === undefined ? {} : { role }) };
  const answer = (await context.withService((client) =>
    client.call('contributor.link', { params: { account }, body }),
  )) as { readonly link: string; readonly expires_utc: string };
  if (options.json === true) {
    writeJson(context.output, answer);
    return EXIT.done;
  }
  context.output.write(`${answer.link}\n`);
  context.output.note(`Open it in a browser: it signs in once, until ${answer.expires_utc}.\n`);
  return EXIT.done;
}
