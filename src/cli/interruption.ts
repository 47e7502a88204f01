/** Ctrl-C and SIGTERM while a command works: a word on what that means, and then the end that the signal asks for. */
import type { Output } from './output.js';
import { removeUnfinishedFiles } from './unfinished-files.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Returns what undoes it. `serve` and `demo`, which end in order at a signal, listen for themselves and are left alone: a command
 * that has a listener of its own decides.
 */
export function printInterruption(output: Output): () => void {
  const onSignal = (signal: NodeJS.Signals) => {
    if (process.listenerCount(signal) > 1) return;
    output.note(`${output.isTerminal ? '\n' : ''}Interrupted. Changes made so far are kept.\n`);
    removeUnfinishedFiles();
    forget();
    // Whoever started this command sees that a signal ended it; data are whole whenever a process ends.
    process.kill(process.pid, signal);
  };
  const forget = () => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return forget;
}
