/** Slices that end at every check, and count the pauses, independently of the machine's speed. */
import { Slices } from '../../../src/feeds/text/slices.js';

class CountedSlices extends Slices {
  pauses = 0;

  override get areOver(): boolean {
    return true;
  }

  override async next(): Promise<void> {
    this.pauses += 1;
    await super.next();
  }
}

export function countedSlices(signal?: AbortSignal): CountedSlices {
  return new CountedSlices(signal);
}
