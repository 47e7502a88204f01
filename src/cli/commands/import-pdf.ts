/**
 * `gannet import --pdf`: creates a record for each PDF file of a folder. The files are put into a media store, where
 * the service reads them, so that records are found by pages. With `--text`, they are read here, and their text is put
 * into the records.
 */
import type { BulkAnswer } from '../answers.js';
import { writeJson, type CommandContext } from '../command-context.js';
import { fillNewList } from '../created-list.js';
import { EXIT, type ExitStatus } from '../exit-codes.js';
import { formatCount, printable } from '../output.js';
import { PDF_LIST, PDF_TEXT_LIST, pdfFiles, readPdfs, type PdfFault, type PdfOutcome } from '../pdf-source.js';
import { DEFAULT_PDF_STORE, readState, uploadPdfs, uploadTarget } from '../pdf-upload.js';
import { Progress } from '../progress.js';
import type { ServiceClient } from '../service-client.js';
import { printOutcome, progressOutput, sendAll, sumOf, type ImportOptions } from './import.js';

/** Bytes per request; files are read meanwhile. */
const BATCH_BYTES = 8_388_608;
const FAULTS_SHOWN_MAX = 100;

export async function importPdfs(context: CommandContext, path: string, options: ImportOptions): Promise<ExitStatus> {
  const found = await pdfFiles(path);
  const account = options.account ?? context.config.account.name;
  const target = { account, list: options.list };
  const onBug = (stack: string) => {
    context.output.note(`${stack}\n`);
  };
  const { answer, faults } = await context.withService(async (client) => {
    const isText = options.text === true;
    const fill = async (): Promise<Sent> => {
      if (isText)
        return send(context, client, options, { outcomes: readPdfs(found, onBug), files: found.files.length });
      const place = await uploadTarget(client, { ...target, store: options.mediaStore ?? DEFAULT_PDF_STORE });
      const sent = await send(context, client, options, {
        outcomes: uploadPdfs(client, place, found),
        files: found.files.length,
      });
      const unreadable = await readState(client, place, context.output);
      return { answer: sent.answer, faults: [...sent.faults, ...unreadable] };
    };
    if (options.create !== true) return fill();
    const definition = isText ? PDF_TEXT_LIST : PDF_LIST;
    return fillNewList({ client, output: context.output }, { ...target, definition }, fill);
  });
  if (options.json === true) writeJson(context.output, { ...answer, documents: found.files.length, faults });
  else {
    printOutcome(context.output, answer);
    printFaults(context, faults);
  }
  return answer.failed === 0 && faults.length === 0 ? EXIT.done : EXIT.failed;
}

interface Sent {
  readonly answer: BulkAnswer;
  readonly faults: readonly PdfFault[];
}

/** Sends the records as they come. */
async function send(
  { output, config }: CommandContext,
  client: ServiceClient,
  options: ImportOptions,
  { outcomes, files }: { readonly outcomes: AsyncIterable<PdfOutcome>; readonly files: number },
): Promise<Sent> {
  const faults: PdfFault[] = [];
  const target = { account: options.account ?? config.account.name, list: options.list, format: 'ndjson' } as const;
  const progress = new Progress(progressOutput(output, options), `Reading into ${options.list}`);
  let answer: BulkAnswer = { created: 0, updated: 0, failed: 0, errors: [], took_ms: 0 };
  let read = 0;
  let handled = 0;
  let lines: Buffer[] = [];
  let bytes = 0;
  const flush = async () => {
    if (lines.length === 0) return;
    answer = sumOf(answer, await sendAll(client, { ...target, stream: piecesOf(lines) }), read - lines.length);
    lines = [];
    bytes = 0;
  };
  try {
    for await (const { record, fault } of outcomes) {
      if (fault !== undefined) faults.push(fault);
      if (record !== undefined) {
        const line = Buffer.from(`${JSON.stringify(record)}\n`);
        if (bytes + line.length > BATCH_BYTES) await flush();
        lines.push(line);
        bytes += line.length;
        read += 1;
      }
      handled += 1;
      progress.update({ records: read, share: handled / files });
    }
    await flush();
    progress.done(answer.created + answer.updated);
    return { answer, faults };
  } catch (error) {
    progress.abandon();
    throw error;
  }
}

async function* piecesOf(lines: readonly Buffer[]): AsyncGenerator<Uint8Array> {
  yield* lines;
}

function printFaults({ output }: CommandContext, faults: readonly PdfFault[]): void {
  for (const { file, error, detail } of faults.slice(0, FAULTS_SHOWN_MAX))
    output.note(`  ${printable(file)}: ${error}: ${printable(detail)}\n`);
  const rest = faults.length - FAULTS_SHOWN_MAX;
  if (rest > 0) output.note(`  and ${formatCount(rest)} more\n`);
}
