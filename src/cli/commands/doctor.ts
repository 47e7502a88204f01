/** `gannet doctor`: checks what would prevent the service from running on this machine, or slow it down. */
import { writeJson, type CommandContext } from '../command-context.js';
import {
  compilerChecks,
  ffmpegCheck,
  kernelCheck,
  nodeCheck,
  pictureDecoderCheck,
  webServerCheck,
} from '../doctor/software-checks.js';
import { dataDirectoryChecks, recordsCheck } from '../doctor/data-checks.js';
import {
  diskCheck,
  fileLimitCheck,
  listLimitCheck,
  mapLimitCheck,
  memoryCheck,
  processorCheck,
  systemLimits,
} from '../doctor/machine-checks.js';
import { settingsOf } from '../../platform/index.js';
import { RESOURCE_SETTINGS } from '../../resources/index.js';
import { adoptionLines } from '../doctor/adoption-lines.js';
import type { Check } from '../doctor/check.js';
import { EXIT, type ExitStatus } from '../exit-codes.js';
import { printableLines, styled, type Output } from '../output.js';

export interface DoctorOptions {
  readonly json?: boolean;
  readonly data?: boolean;
  readonly adoptLists?: boolean;
}

export async function doctor(context: CommandContext, options: DoctorOptions): Promise<ExitStatus> {
  if (options.adoptLists === true) return adopt(context, options.json === true);
  const { config } = context;
  const limits = systemLimits(config.data.dir);
  const checks: Check[] = [
    nodeCheck(),
    ...(await compilerChecks()),
    await kernelCheck(),
    await webServerCheck(config.server.web_server),
    await pictureDecoderCheck(),
    await ffmpegCheck(settingsOf(config, RESOURCE_SETTINGS).ffmpeg),
    processorCheck(),
    memoryCheck(config),
    fileLimitCheck(limits),
    mapLimitCheck(),
    listLimitCheck(config, limits),
    diskCheck(config.data.dir),
    ...(await dataDirectoryChecks(context)),
    ...(options.data === true ? await recordsCheck(context) : []),
  ];
  const failed = checks.some(({ state }) => state === 'failed');
  if (options.json === true) writeJson(context.output, { ok: !failed, checks });
  else printChecks(context.output, checks, failed);
  return failed ? EXIT.failed : EXIT.done;
}

/** Adds lists back to the catalogue. Exit status 1 if a folder was left. */
async function adopt({ config, load, output }: CommandContext, isJson: boolean): Promise<ExitStatus> {
  const { adoptUnknownLists } = await load();
  const report = await adoptUnknownLists({ ...config, log: { ...config.log, level: 'silent' } });
  if (isJson) writeJson(output, report);
  else output.write(`${adoptionLines(report).join('\n')}\n`);
  return report.left.length === 0 ? EXIT.done : EXIT.failed;
}

const MARKS = { fine: ['green', '✓'], notice: ['yellow', '!'], failed: ['red', '✗'] } as const;

function printChecks(output: Output, checks: readonly Check[], failed: boolean): void {
  const width = Math.max(...checks.map(({ name }) => name.length));
  for (const { name, state, detail } of checks) {
    const [style, mark] = MARKS[state];
    output.write(`${styled(output, style, mark)} ${name.padEnd(width)}  ${printableLines(detail)}\n`);
  }
  output.write(
    failed
      ? '\nThe service cannot run. Fix the problems marked ✗, then run gannet doctor again.\n'
      : '\nThe service can run.\n',
  );
}
