/** `gannet import --pdf`: a record for each PDF file of a folder, with its text. */
import type { BulkAnswer } from '../answers.js';
import { writeJson, type CommandContext } from '../command-context.js';
import { EXIT, type ExitStatus } from '../exit-codes.js';
import { formatCount, printable } from '../output.js';
import { PDF_LIST, pdfFiles, readPdfs, type PdfFault } from '../pdf-source.js';
import { Progress } from '../progress.js';
import { createListIfMissing, printOutcome, progressOutput, sendAll, sumOf, type ImportOptions } from './import.js';

/** Sent in one request: what is read meanwhile keeps none waiting. */
const BATCH_BYTES = 8_388_608;
const FAULTS_SHOWN_MAX = 100;

export async function importPdfs(context: CommandContext, path: string, options: ImportOptions): Promise<ExitStatus> {
  const found = await pdfFiles(path);
  const faults: PdfFault[] = [];
  const account = options.account ?? context.config.account.name;
  const answer = await context.withService(async (client) => {
    if (options.create === true) await createListIfMissing(client, account, options.list, PDF_LIST);
    const progress = new Progress(progressOutput(context.output, options), `Reading into ${options.list}`);
    let total: BulkAnswer = { created: 0, updated: 0, failed: 0, errors: [], took_ms: 0 };
    let read = 0;
    let handled = 0;
    let lines: Buffer[] = [];
    let bytes = 0;
    const send = async () => {
      if (lines.length === 0) return;
      const target = { account, list: options.list, format: 'ndjson' } as const;
      total = sumOf(total, await sendAll(client, { ...target, stream: piecesOf(lines) }), read - lines.length);
      lines = [];
      bytes = 0;
    };
    const onBug = (stack: string) => {
      context.output.note(`${stack}\n`);
    };
    try {
      for await (const { record, fault } of readPdfs(found, onBug)) {
        if (fault !== undefined) faults.push(fault);
        if (record !== undefined) {
          const line = Buffer.from(`${JSON.stringify(record)}\n`);
          if (bytes + line.length > BATCH_BYTES) await send();
          lines.push(line);
          bytes += line.length;
          read += 1;
        }
        handled += 1;
        progress.update({ records: read, share: handled / found.files.length });
      }
      await send();
      progress.done(total.created + total.updated);
      return total;
    } catch (error) {
      progress.abandon();
      throw error;
    }
  });
  if (options.json === true) writeJson(context.output, { ...answer, documents: found.files.length, faults });
  else {
    printOutcome(context.output, answer);
    printFaults(context, faults);
  }
  return answer.failed === 0 && faults.length === 0 ? EXIT.done : EXIT.failed;
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
