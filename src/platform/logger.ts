/**
 * Logging: JSON lines on standard error, written in the background so that a request never waits for a disk or a pipe.
 * What could be secret never reaches a log: no key, no query string, no body.
 */
import { pino, type Logger } from 'pino';
import type { Config } from './config.js';
import { GatheredOutput } from './gathered-output.js';
import { LogOutput } from './log-output.js';

export { flushLogs } from './gathered-output.js';

export interface LoggerOptions {
  /** Instead of the configured level; the command line is quieter than the service. */
  readonly level?: Config['log']['level'];
  /** False: of an error only what it says, for whoever reads the lines at a terminal. */
  readonly stacks?: boolean;
}

export interface ServiceLogger extends Logger {
  /** Resolves when what was logged is written, or cannot be; to be awaited before the process ends. */
  drain(): Promise<void>;
  /** Lines that could not be written since the start, and are lost. */
  droppedLines(): number;
}

export function createLogger(config: Pick<Config, 'log'>, options: LoggerOptions = {}): ServiceLogger {
  // While one write is under way the lines after it gather in memory and go out as the next: no line waits for a timer.
  const output = new LogOutput();
  const gathered = new GatheredOutput(output);
  const level = options.level ?? config.log.level;
  const serializers = options.stacks === false ? { err: withoutStack } : {};
  const logger = pino({ level, base: null, timestamp: timeMember, serializers }, gathered);
  output.on('recovered', (lines) => {
    logger.warn({ lines }, 'The log could not be written for a while: lines are missing before this one');
  });
  return Object.assign(logger, {
    droppedLines: () => output.droppedLines,
    drain: () => gathered.drain(),
  });
}

function withoutStack(error: Error): object {
  return { ...pino.stdSerializers.err(error), stack: undefined };
}

let timeMs = Number.NaN;
let timeText = '';

/** The time as a member of a line, behind others. Many lines have their millisecond in common. */
function timeMember(): string {
  const nowMs = Date.now();
  if (nowMs !== timeMs) {
    timeMs = nowMs;
    timeText = `,"time":"${new Date(nowMs).toISOString()}"`;
  }
  return timeText;
}
