import type { Output } from './output.js';

/** Says that something will only happen when the service runs, after a command that worked without it. */
export function tellStopped(output: Pick<Output, 'note'>, waiting: string): void {
  output.note(`The service is not running: ${waiting}. Start it with gannet serve.\n`);
}
