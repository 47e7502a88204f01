/**
 * The kernel's stop flags, each of which stops one search that runs in a worker. Main thread only. A taken flag must be
 * given back once nothing watches it any more.
 */
import { kernelConstant, type Kernel } from '../../native-bindings/index.js';

/** Used if all other flags are taken. It is never raised, so its searches end at their deadline at the latest. */
const SHARED_FLAG = 0;

export class StopFlags {
  private readonly free: number[] = [];
  private next = SHARED_FLAG + 1;

  constructor(
    private readonly kernel: Pick<Kernel, 'raiseStop' | 'lowerStop'>,
    private readonly flagsMax = kernelConstant('StopFlagsMax'),
  ) {}

  /** Returns a flag that is not raised. */
  take(): number {
    const flag = this.free.pop();
    if (flag !== undefined) return flag;
    if (this.next >= this.flagsMax) return SHARED_FLAG;
    return this.next++;
  }

  raise(flag: number): void {
    if (flag !== SHARED_FLAG) this.kernel.raiseStop(flag);
  }

  /** `raised`: true if the flag was raised. */
  giveBack(flag: number, raised: boolean): void {
    if (flag === SHARED_FLAG) return;
    if (raised) this.kernel.lowerStop(flag);
    this.free.push(flag);
  }
}
