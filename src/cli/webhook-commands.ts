/** The commands `gannet webhook …` and their options. */
import type { Command, Option } from 'commander';
import type { Run } from './command-context.js';
import type {
  WebhookCreateOptions,
  WebhookDeliveriesOptions,
  WebhookOptions,
  WebhookReplayOptions,
} from './commands/webhook.js';

/** What a file of commands needs from the program. */
export interface CommandParts {
  readonly run: Run;
  /** Options of every command in the file. */
  readonly shared: () => readonly Option[];
  readonly wholeNumber: (text: string) => number;
}

export function addWebhookCommands(program: Command, { run, shared, wholeNumber }: CommandParts): void {
  const commands = () => import('./commands/webhook.js');
  const webhook = program
    .command('webhook')
    .description('create, list, test and delete webhooks, and see what became of their deliveries');
  const add = (name: string, description: string): Command => {
    const command = webhook.command(name).description(description);
    for (const option of shared()) command.addOption(option);
    return command;
  };
  const addWithId = (name: string, description: string) => add(name, description).argument('<id>', 'id of the webhook');

  add('list', 'list the webhooks of an account')
    .alias('ls')
    .action((options: WebhookOptions) => run(async (context) => (await commands()).listWebhooks(context, options)));
  add('create', 'subscribe a URL to events and print the signing secret')
    .requiredOption('--url <url>', 'where events are sent (HTTPS)')
    .requiredOption(
      '--events <list>',
      'event types, separated by commas (for example searchresult.created,list.deleted)',
    )
    .action((options: WebhookCreateOptions) =>
      run(async (context) => (await commands()).createWebhook(context, options)),
    );
  addWithId('delete', 'remove a webhook').action((id: string, options: WebhookOptions) =>
    run(async (context) => (await commands()).deleteWebhook(context, id, options)),
  );
  addWithId('test', 'send a ping').action((id: string, options: WebhookOptions) =>
    run(async (context) => (await commands()).testWebhook(context, id, options)),
  );
  addWithId('secret', 'print the signing secret again').action((id: string, options: WebhookOptions) =>
    run(async (context) => (await commands()).readSecret(context, id, options)),
  );
  addWithId('rotate-secret', 'replace the signing secret and print the new one; both sign for a day').action(
    (id: string, options: WebhookOptions) =>
      run(async (context) => (await commands()).rotateSecret(context, id, options)),
  );
  addWithId('deliveries', 'show the latest delivery attempts')
    .option('--set-aside', 'show the deliveries that failed at every attempt instead')
    .option('--size <count>', 'number of entries to show', wholeNumber, 20)
    .action((id: string, options: WebhookDeliveriesOptions) =>
      run(async (context) => (await commands()).listDeliveries(context, id, options)),
    );
  addWithId('replay', 'send again the deliveries that were set aside')
    .option('--deliveries <list>', 'ids of deliveries, separated by commas (default: all)')
    .action((id: string, options: WebhookReplayOptions) =>
      run(async (context) => (await commands()).replayDeliveries(context, id, options)),
    );
}
