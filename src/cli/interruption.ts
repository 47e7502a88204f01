/** Handles signals that interrupt a command: prints what that means, then ends by the signal. */
import type { Output } from './output.js';
import { removeUnfinishedFiles } from './unfinished-files.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Installs the handlers and returns a function that removes them. `serve` and `demo` have handlers of their own, which
 * take precedence.
 */
export function printInterruption(output: Output): () => void {
  const onSignal = (signal: NodeJS.Signals) => {
    if (process.listenerCount(signal) > 1) return;
    output.note(`${output.isTerminal ? '\n' : ''}Interrupted. Changes made so far are kept.\n`);
    removeUnfinishedFiles();
    forget();
    // Ends by the signal, so that the parent process sees it. Data are consistent whenever a process ends.
    process.kill(process.pid, signal);
  };
  const forget = () => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return forget;
}
