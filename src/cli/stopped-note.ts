import type { Output } from './output.js';

/** For commands that are done without a service, of which people expect what only a running one does. */
export function tellStopped(output: Pick<Output, 'note'>, waiting: string): void {
  output.note(`The service is not running: ${waiting}. Start it with gannet serve.\n`);
}
