/** The commands `gannet media …` and `gannet media-store …` and their options. */
import { Option, type Command } from 'commander';
import { STORE_KINDS, STORE_MEMBERS } from '../media/store-kinds.js';
import type {
  MediaGetOptions,
  MediaListOptions,
  MediaOptions,
  MediaPutOptions,
  MediaStoreAddOptions,
  MediaStoreOptions,
} from './commands/media.js';
import type { CommandParts } from './webhook-commands.js';

const commands = () => import('./commands/media.js');

export function addMediaCommands(program: Command, parts: CommandParts): void {
  addFileCommands(program, parts);
  addStoreCommands(program, parts);
}

function adder(program: Command, { shared }: CommandParts, [name, description]: readonly [string, string]) {
  const parent = program.command(name).description(description);
  return (own: string, text: string, without?: string): Command => {
    const command = parent.command(own).description(text);
    for (const option of shared()) if (option.name() !== without) command.addOption(option);
    return command;
  };
}

function addFileCommands(program: Command, parts: CommandParts): void {
  const { run, wholeNumber } = parts;
  const add = adder(program, parts, ['media', 'put, get, list and delete files in media stores']);
  const storeOption = () => new Option('--store <name>', 'the media store').default('default');
  add('put', 'put a file into a media store (- for standard input)')
    .argument('<file>', 'file on this machine')
    .argument('[path]', 'path in the store (default: the name of the file)')
    .addOption(storeOption())
    .option('--content-type <type>', 'content type (default: by the path)')
    .action((file: string, path: string | undefined, options: MediaPutOptions) =>
      run(async (context) => (await commands()).putFile(context, { file, path }, options)),
    );
  // `json` selects the shared options; the output is the file itself.
  add('get', 'write a file of a media store to standard output', 'json')
    .argument('<path>', 'path in the store')
    .addOption(storeOption())
    .option('-o, --output <file>', 'write to a file instead of standard output')
    .action((path: string, options: MediaGetOptions) =>
      run(async (context) => (await commands()).getFile(context, path, options)),
    );
  add('list', 'list the files of a media store')
    .alias('ls')
    .addOption(storeOption())
    .option('--prefix <text>', 'only paths that begin with this')
    .option('--after <path>', 'only paths after this one')
    .option('--size <count>', 'number of files to show', wholeNumber, 1000)
    .action((options: MediaListOptions) => run(async (context) => (await commands()).listFiles(context, options)));
  add('delete', 'remove a file of a media store')
    .argument('<path>', 'path in the store')
    .addOption(storeOption())
    .action((path: string, options: MediaOptions) =>
      run(async (context) => (await commands()).deleteFile(context, path, options)),
    );
}

function addStoreCommands(program: Command, parts: CommandParts): void {
  const { run } = parts;
  const add = adder(program, parts, ['media-store', 'add, list and remove media stores']);
  add('list', 'list the media stores of an account')
    .alias('ls')
    .action((options: MediaStoreOptions) => run(async (context) => (await commands()).listStores(context, options)));
  const addStore = add('add', 'add a folder of this machine, or a bucket of an S3 server')
    .argument('<name>', 'name of the store')
    .addOption(
      new Option('--kind <kind>', 'where the files are').choices(Object.keys(STORE_KINDS)).makeOptionMandatory(),
    );
  for (const [member, row] of Object.entries(STORE_MEMBERS)) {
    if ('option' in row) addStore.option(`--${member.replaceAll('_', '-')} <${row.option[0]}>`, row.option[1]);
  }
  addStore.action((name: string, options: MediaStoreAddOptions) =>
    run(async (context) => (await commands()).addStore(context, name, options)),
  );
  add('delete', 'remove a media store; its files stay where they are')
    .argument('<name>', 'name of the store')
    .action((name: string, options: MediaStoreOptions) =>
      run(async (context) => (await commands()).deleteStore(context, name, options)),
    );
}
