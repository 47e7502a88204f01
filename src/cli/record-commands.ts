/** The commands `gannet import` and `gannet export` and their options. */
import { Option, type Command } from 'commander';
import type { Run } from './command-context.js';
import type { ExportOptions } from './commands/export.js';
import type { ImportOptions } from './commands/import.js';
import { accountOption, configOption, jsonOption } from './shared-options.js';

const formatOption = (description: string) =>
  new Option('--format <format>', description).choices(['ndjson', 'json', 'csv']);

export function addRecordCommands(program: Command, run: Run): void {
  addImportCommand(program, run);
  addExportCommand(program, run);
}

function addImportCommand(program: Command, run: Run): void {
  program
    .command('import')
    .description('add or replace records from a file (- for standard input)')
    .argument('<file>', 'NDJSON, a JSON array, or CSV with a heading; with --pdf, a folder')
    .addOption(configOption())
    .requiredOption('--list <name>', 'the list to import into')
    .option('--create', 'create the list if it does not exist; its fields are inferred from the first records')
    .addOption(formatOption('format of the file (default: by its name)'))
    .option('--name-from <field>', 'field whose value becomes the name of a record without a name (such as sku)')
    .addOption(
      new Option(
        '--patch',
        'change the records that have the names of those in the file: set the fields that it has, leave the others, and make no record',
      ).conflicts(['create']),
    )
    .option('--records <member>', 'member of a JSON document that holds the array of records (such as data.items)')
    .option('--flatten', "turn what is in objects within records into fields of their own (such as 'author.name')")
    .option(
      '--npy <file>',
      "vectors of the records, one row for each, for a list with the model 'own' (float32 or float16)",
    )
    .option(
      '--with-files <folder>',
      'first put the files in this folder, <store>/<path>, into media stores, as an export wrote them',
    )
    .addOption(
      new Option(
        '--pdf',
        'the file is a folder: import each PDF in it as a record that is found by its pages',
      ).conflicts(['format', 'nameFrom', 'withFiles', 'npy', 'records', 'flatten', 'patch']),
    )
    .option('--media-store <name>', 'with --pdf: media store for the files (default: default)')
    .addOption(
      new Option('--text', 'with --pdf: leave the files where they are, and put their text into the records').conflicts(
        'mediaStore',
      ),
    )
    .addOption(accountOption())
    .addOption(jsonOption())
    .action((file: string, options: ImportOptions) =>
      run(async (context) =>
        options.pdf === true
          ? (await import('./commands/import-pdf.js')).importPdfs(context, file, options)
          : (await import('./commands/import.js')).importFile(context, file, options),
      ),
    );
}

function addExportCommand(program: Command, run: Run): void {
  program
    .command('export')
    .description('write all records of a list')
    .addOption(configOption())
    .requiredOption('--list <name>', 'the list')
    .addOption(formatOption('format to write').default('ndjson'))
    .option('-o, --output <file>', 'write to a file instead of standard output')
    .option('--vectors', 'include the vectors that the records are found by')
    .option('--npy <file>', 'write these vectors to a file: a float32 matrix, one row for each record, in their order')
    .option(
      '--for-spreadsheets',
      "CSV in which texts that would be formulas begin with '; for looking at, not for importing",
    )
    .option('--with-files <folder>', 'also write the files of media stores that records link to, as <store>/<path>')
    .addOption(accountOption())
    .action((options: ExportOptions) =>
      run(async (context) => (await import('./commands/export.js')).exportList(context, options)),
    );
}
